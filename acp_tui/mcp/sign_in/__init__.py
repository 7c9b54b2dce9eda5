"""Sign-in to http and sse servers with OAuth: stored tokens, the browser round trip, renewal, sign-out.

Only `actions` and `provider` import the MCP SDK, so that listing commands stay fast.
"""
