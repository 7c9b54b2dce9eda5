"""Draws the changes of a file: unified, or side by side in a wide view if neither side is empty."""
