"""Themes, the palette of styles made from them, and syntax highlighting."""
