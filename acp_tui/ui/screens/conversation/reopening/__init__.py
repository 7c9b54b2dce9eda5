"""Reopening a session: the agent's readiness, and a new session if the agent cannot reopen the old one."""
