"""The MCP screen: servers on the left, the facts about one of them and what it offers on the right."""
