"""Keeps, merges or discards a conversation's worktree when the user closes the conversation.

At run time, the only other screens that this package imports are dialogs.
"""
