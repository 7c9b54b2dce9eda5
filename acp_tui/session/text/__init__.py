"""Text from agents: made safe to display, with or without colours, and shortened if it is long.

Imports only `acp_tui.session.json_depth`.
"""
