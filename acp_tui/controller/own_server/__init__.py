"""acp-tui's own MCP server: the tools that it offers to agents, and the user's own tools.

The agent's calls arrive through `acp-tui mcp serve`, which the agent starts, or inside the ACP connection.
"""
