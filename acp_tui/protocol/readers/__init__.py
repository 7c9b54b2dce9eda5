"""Readers of the parts of a message: content, options, errors, what an agent says about itself.

A part that cannot be read counts as missing, or is kept unchanged. Imports only `acp_tui.session`.
"""
