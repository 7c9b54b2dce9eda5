"""Reopening sessions: whether the agent is ready, and what happens if it cannot open a session again."""
