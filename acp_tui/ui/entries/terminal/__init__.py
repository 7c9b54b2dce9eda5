"""Draws commands with their output: shortened in the transcript, in full, and as text for a prompt."""
