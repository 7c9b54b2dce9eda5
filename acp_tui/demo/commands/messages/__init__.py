"""Slash commands that show what messages can hold, usual and unusual."""
