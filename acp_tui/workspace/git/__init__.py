"""Private git directories, and access to the user's repository without running code from the repository."""
