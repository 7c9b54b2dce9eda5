"""Renderers of entries: one module per kind, listed in `registry`."""
