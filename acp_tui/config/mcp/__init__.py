"""The user's MCP servers: reading them from several file formats, and preparing them for an agent."""

from acp_tui.config.mcp.agent_servers import UnsentServer, servers_for_agent
from acp_tui.config.mcp.server import Server
from acp_tui.config.mcp.sources import from_document, from_json_file

__all__ = ["Server", "UnsentServer", "from_document", "from_json_file", "servers_for_agent"]
