"""The dialog with a form."""
