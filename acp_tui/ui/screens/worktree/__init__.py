"""Keeps, merges or discards a conversation's worktree when the conversation is closed.

At run time, the only other screens that this package imports are dialogs.
"""
