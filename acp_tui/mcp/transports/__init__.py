"""The transports to a server (stdio, streamable HTTP, SSE), and the filter that declines sampling.

May import `failures`, `handlers` and `secrets` of `acp_tui.mcp`.
"""
