"""What acp-tui remembers about MCP servers: their definitions, the last test, and their logs."""
