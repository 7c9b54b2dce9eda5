"""The actions of `acp-tui sessions`."""
