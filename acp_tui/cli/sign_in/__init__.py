"""Signing in to and out of an agent on the command line, for `acp-tui login` and `acp-tui logout`."""
