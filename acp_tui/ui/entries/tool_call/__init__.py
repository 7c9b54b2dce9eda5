"""Draws tool calls: a headline, and below it the command, the changed files or the output."""
