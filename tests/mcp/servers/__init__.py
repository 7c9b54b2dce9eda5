"""MCP servers for tests, run as programs. `tests/support/mcp_servers.py` starts them."""
