"""The actions that change definitions of MCP servers, and code to find, show and write definitions."""
