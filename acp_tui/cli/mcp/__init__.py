"""The actions of `acp-tui mcp`, one module each. They must not import the MCP SDK at module level."""
