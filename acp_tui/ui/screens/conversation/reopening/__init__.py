"""Reopening sessions: shows whether the agent is ready, and lets the user go on if it cannot reopen one."""
