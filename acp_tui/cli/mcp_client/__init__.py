"""What the actions of `acp-tui mcp` that connect to servers share: connecting, asking, printing.

Imports `acp_tui.cli.mcp.server_selection` and below. Nothing here may import the MCP SDK at the top.
"""
