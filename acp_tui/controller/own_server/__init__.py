"""acp-tui's own MCP server, which offers agents built-in tools and the tools that the user has defined.

The agent's calls arrive through `acp-tui mcp serve`, which the agent starts, or inside the ACP connection.
"""
