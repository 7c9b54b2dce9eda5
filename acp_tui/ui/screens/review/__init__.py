"""The review screen: changed files on the left, the hunks of the chosen file on the right."""
