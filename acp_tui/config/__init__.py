"""Settings with their origins, directories, and MCP servers."""
