"""What acp-tui remembers about MCP servers, such as added definitions, accepted tools, tests and logs."""
