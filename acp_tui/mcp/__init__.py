"""MCP servers: connecting, inspecting and calling them, the bridge, sign-in, and acp-tui's own server.

Only this package and `demo` import the MCP SDK. Importing the SDK takes about half a second, so callers
import the modules that need it inside functions. `acp_tui.config.mcp`, which does not need the SDK, reads the
definitions of servers and decides which of them an agent is given.
"""
