"""The actions that change definitions of MCP servers, and how definitions are shown, found and written."""
