"""Connects a conversation to its widgets: commands, status, frames, questions, attention."""
