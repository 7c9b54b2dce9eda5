"""The user's terminal: driver, input, clipboard, error handling, and whatever needs private parts of Textual.

No other package uses private parts of Textual. Each use here names the Textual version and the reason, so
that all uses are easy to check when Textual is upgraded.
"""
