"""The actions of `acp-tui mcp`, one module each. Nothing here may import the MCP SDK at the top."""
