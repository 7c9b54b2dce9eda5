"""Draws the changes of a file: unified, or side by side if the view is wide enough."""
