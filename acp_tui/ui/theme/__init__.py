"""Themes, the palette of styles that is made from a theme, and syntax highlighting."""
