"""The tabs of the MCP screen (tools, prompts, resources, calls, log), and full views, except of the log."""
