"""`acp-tui exec`: runs one prompt without a UI."""
