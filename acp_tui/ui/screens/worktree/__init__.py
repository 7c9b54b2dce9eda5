"""When a conversation is closed, keeps, merges or discards its worktree. Imports dialogs."""
