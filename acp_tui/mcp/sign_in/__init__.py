"""Signing in at http servers with OAuth: stored tokens, the browser round trip, refreshing, signing out.

`token_store`, `authorization_url`, `redirect_answer`, `interaction` and `errors` do not import the
MCP SDK, so that listing commands stay fast.
"""
