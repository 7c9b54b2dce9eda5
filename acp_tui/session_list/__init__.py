"""The list of recorded sessions, and of those that only an agent has, as plain data."""
