"""The MCP protocol of acp-tui's own server, for `acp-tui mcp serve` and for MCP inside ACP connections.

Does not use the MCP SDK: the app itself answers MCP messages inside ACP connections, and importing the SDK
takes half a second and 50 MB. `tests/mcp/test_own_server_protocol.py` checks the protocol against the SDK.
"""
