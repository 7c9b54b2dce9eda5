"""The bridge: an MCP server over stdio for an agent, which passes every message on to the real server.

`acp-tui mcp bridge` runs it. It records each call of a tool, asks for permission, and carries what an agent
cannot be told: a working directory, a timeout, a choice of tools, sign-in.

Only `sdk_upstream` imports the SDK, and only servers that need it: a bridge to a stdio server starts in a
tenth of a second.
"""
