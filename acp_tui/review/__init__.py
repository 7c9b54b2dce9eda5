"""The review of changes: hunks, decisions that can be undone, and comments.

Pure: imports the standard library and `acp_tui.diffing` only.
"""
