"""The bridge: a stdio MCP server for an agent, which passes messages on to the real server.

`acp-tui mcp bridge` runs the bridge. It asks for permission for each call of a tool, records the call, and
applies the settings that agents do not support: a working directory, a timeout, a choice of tools, sign-in.

Only `sdk_upstream` imports the SDK, and it is imported only if the server needs it. A bridge to a stdio
server therefore starts in a tenth of a second.
"""
