"""The transcript: one widget for the whole conversation, drawn line by line.

`view` is the widget, and `transcript` adds the keys. The modules may import `entries`, `drawing`, `theme` and
`terminal`.
"""
