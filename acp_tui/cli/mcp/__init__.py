"""The actions of `acp-tui mcp`. The modules must not import the MCP SDK at the top level."""
