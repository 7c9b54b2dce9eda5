"""Signing in to an agent: the list of its methods, the question before a command, and the progress."""
