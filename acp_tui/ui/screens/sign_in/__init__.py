"""Signing in to an agent: the list of sign-in methods, the question before a command, the progress."""
