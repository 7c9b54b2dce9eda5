"""The MCP side of a conversation: the socket for bridges, permission for calls, and their record."""
