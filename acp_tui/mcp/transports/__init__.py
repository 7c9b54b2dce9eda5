"""How messages reach a server: a process over stdio, or HTTP; and what is answered before the SDK sees it.

May import `failures`, `handlers` and `secrets` of `acp_tui.mcp`.
"""
