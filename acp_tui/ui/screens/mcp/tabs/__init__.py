"""The tabs of the MCP screen (tools, prompts, resources, calls, log), and the full view of each item."""
