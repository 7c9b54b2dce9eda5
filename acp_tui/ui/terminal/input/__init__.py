"""Terminal input: key names, pastes, and the terminal's replies to queries of acp-tui.

This package uses private parts of Textual, like the package that contains it.
"""
