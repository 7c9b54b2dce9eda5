"""The MCP side of a conversation: the socket for bridges, permission for tool calls, and call records."""
