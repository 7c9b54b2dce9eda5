"""The toolkit of the line renderers: wrapping, styles, heights, highlights."""
