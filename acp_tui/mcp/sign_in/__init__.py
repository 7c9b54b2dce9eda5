"""Sign-in to http and sse servers with OAuth: stored tokens, the browser round trip, renewal, sign-out.

Only `actions`, `configured_client` and `provider` import the MCP SDK, so that commands such as
`acp-tui mcp list` stay fast.
"""
