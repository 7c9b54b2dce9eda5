"""Helpers of the renderers: wrapping, text layout, line styles, heights, highlights."""
