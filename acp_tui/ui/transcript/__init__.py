"""The transcript: one widget for the whole conversation, drawn line by line.

`view` is the widget, `transcript` adds the keys. May import `entries`, `drawing`, `theme` and `terminal`.
"""
