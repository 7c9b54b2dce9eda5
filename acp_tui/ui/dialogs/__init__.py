"""Dialogs that any screen may open, and the base screen below all others."""
