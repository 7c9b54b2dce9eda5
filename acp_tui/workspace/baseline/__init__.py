"""A snapshot of the files at session start, used to list and revert the changes made since then."""
