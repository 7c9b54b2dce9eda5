"""The MCP side of a conversation: the socket for bridges, permission for their calls, and records."""
