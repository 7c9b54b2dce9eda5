"""Reopening sessions: shows whether the agent is ready, and offers to continue if it cannot reopen one."""
