"""Signing in to an agent, and out, on the command line. Used by `acp-tui login` and `acp-tui logout`."""
