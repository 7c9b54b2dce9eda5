"""The MCP protocol of acp-tui's own server, spoken by `acp-tui mcp serve` and inside ACP connections.

Written here rather than with the SDK: the app answers MCP messages inside ACP connections, and importing
the SDK's server takes 0.7 s and 50 MB. `tests/mcp/test_own_server_protocol.py` checks it against the SDK.
"""
