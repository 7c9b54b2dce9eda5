"""The bridge: a stdio MCP server that an agent connects to in place of the real server.

`acp-tui mcp bridge` runs the bridge. The bridge passes messages on to the real server and back, and applies
the settings that agents do not support: a working directory, a timeout, a choice of tools, sign-in. A bridge
that is connected to a running acp-tui also asks for permission for each call of a tool, and records the call.

Only `sdk_upstream` imports the SDK, and a bridge imports `sdk_upstream` only if its server needs the SDK. A
bridge to a stdio server therefore starts in a tenth of a second.
"""
