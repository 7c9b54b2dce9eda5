"""The user's terminal: driver, input, clipboard, errors. The only package that uses private parts of Textual.

Each use names the Textual version and the reason, so that an upgrade has one place to look.
"""
