"""The MCP screen: servers on the left; on the right, the facts about a server, and what the server offers."""
