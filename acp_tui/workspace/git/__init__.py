"""Private git directories, and access to the user's repository that does not run any code from it."""
