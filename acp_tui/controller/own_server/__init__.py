"""acp-tui's own MCP server, which offers built-in and user-defined tools to agents.

The agent's calls arrive through `acp-tui mcp serve`, which the agent starts, or inside the ACP connection.
"""
