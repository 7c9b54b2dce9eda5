"""MCP servers: connecting, inspecting and calling them, the bridge, sign-in, and acp-tui's own server.

The only package that imports the MCP SDK, besides `demo`. The SDK costs half a second, so callers import the
modules that use it inside functions. `acp_tui.config.mcp` reads which servers exist and decides which of them
an agent is given; it does not need the SDK.
"""
