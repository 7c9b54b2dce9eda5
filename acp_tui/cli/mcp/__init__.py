"""The actions of `acp-tui mcp`, one module each. The modules must not import the MCP SDK at the top level."""
