"""`acp-tui exec`: one prompt without the screen."""
