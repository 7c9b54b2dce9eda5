"""MCP servers the user wants agents to have: read from several kinds of files, sent as the protocol wants."""

from acp_tui.config.mcp.sending import LeftOut, for_agent
from acp_tui.config.mcp.server import Server
from acp_tui.config.mcp.sources import from_document, from_json_file

__all__ = ["LeftOut", "Server", "for_agent", "from_document", "from_json_file"]
