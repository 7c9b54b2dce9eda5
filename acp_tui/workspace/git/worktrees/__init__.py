"""Git worktrees of conversations in the user's repository: creating, inspecting, merging, removing."""
