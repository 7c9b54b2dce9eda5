"""Settings and where each value comes from; directories; MCP servers; which files are sensitive."""
