"""Slash commands that send messages with usual and with unusual content."""
