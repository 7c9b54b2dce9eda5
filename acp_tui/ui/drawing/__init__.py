"""Helpers for the renderers of entries: wrapping, text layout, line styles, heights, highlights."""
