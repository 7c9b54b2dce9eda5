"""Themes, and the colours made from them."""
