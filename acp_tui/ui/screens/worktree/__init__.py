"""Keeps, merges or discards the worktree of a conversation that is being closed.

At run time, the only other screens that it imports are dialogs.
"""
