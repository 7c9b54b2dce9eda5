"""Reopening a session: shows why the agent is not ready, and can continue the session in a new one."""
