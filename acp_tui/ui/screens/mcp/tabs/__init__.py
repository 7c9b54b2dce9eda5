"""What the MCP screen shows of one server: tools, prompts, resources, calls and log, and each in full."""
