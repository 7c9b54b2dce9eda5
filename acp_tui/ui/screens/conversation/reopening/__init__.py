"""Reopening a session: shows why the agent is not ready, and continues conversations in new sessions."""
