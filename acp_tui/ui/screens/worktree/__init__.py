"""Keeps, merges or discards the worktree of a conversation that is closed. Imports dialogs."""
