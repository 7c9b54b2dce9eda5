"""A snapshot of the files at session start, to list and revert the changes since then."""
