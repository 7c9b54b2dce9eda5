"""The review of changes, without a screen."""
