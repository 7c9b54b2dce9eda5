"""The list of all sessions, as plain data: those that acp-tui recorded, and those that only an agent has."""
