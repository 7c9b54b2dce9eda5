"""The review screen: changed files on the left, the hunks of one of them on the right."""
