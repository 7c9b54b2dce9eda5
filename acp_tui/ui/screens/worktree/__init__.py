"""Keeps, merges or discards the worktree of a conversation that is being closed. Imports dialogs."""
