"""How a tool call is drawn."""
