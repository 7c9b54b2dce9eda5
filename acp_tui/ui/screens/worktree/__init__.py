"""The end of a conversation's worktree: the questions to the user, and what follows from the answers."""
