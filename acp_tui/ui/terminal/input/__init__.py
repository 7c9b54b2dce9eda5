"""Terminal input: key names, pastes, and the terminal's replies to our queries.

Uses private parts of Textual, like the package that contains it.
"""
