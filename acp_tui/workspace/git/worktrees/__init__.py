"""Creates, inspects, merges and removes the git worktrees in which conversations work."""
