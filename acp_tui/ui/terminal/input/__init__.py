"""Terminal input: key names, pastes, and the terminal's replies to queries of acp-tui.

Like its parent package, this package uses private parts of Textual.
"""
