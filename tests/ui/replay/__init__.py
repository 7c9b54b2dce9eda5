"""The screen that plays recordings."""
