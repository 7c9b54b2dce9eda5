"""MCP servers: connecting, inspecting and calling them, the bridge, sign-in, and acp-tui's own server.

Only this package and `demo` import the MCP SDK. Importing the SDK takes about half a second, so modules
that need the SDK are imported inside functions. `acp_tui.config.mcp`, which does not need the SDK, reads the
definitions of servers and decides which servers an agent is given.
"""
