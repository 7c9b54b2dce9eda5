"""What acp-tui remembers of MCP servers: their definitions, the last test, and their logs."""
