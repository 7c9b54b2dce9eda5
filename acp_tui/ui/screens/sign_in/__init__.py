"""Signing in to an agent: the list of methods, the question whether to run a command, and the progress."""
