"""Private git directories, and what can be read of the user's repository without running its code."""
