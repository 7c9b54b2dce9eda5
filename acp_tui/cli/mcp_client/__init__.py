"""The connections, questions and output of those actions of `acp-tui mcp` that connect to servers.

Imports `acp_tui.cli.mcp.server_selection` and what that module may import. No module here may import the MCP
SDK at module level.
"""
