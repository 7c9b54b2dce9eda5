"""Keeps, merges or discards the worktree of a conversation when it is closed. Imports dialogs."""
