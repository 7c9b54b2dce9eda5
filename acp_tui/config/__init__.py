"""Settings and the origin of each value, acp-tui's directories, MCP servers, and sensitive files."""
