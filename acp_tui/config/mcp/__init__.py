"""Reads MCP server definitions in several file formats, and prepares the definitions for an agent."""

from acp_tui.config.mcp.agent_servers import (
    SentServer,
    UnsentServer,
    bridge_reason,
    check_sendable,
    reason_off,
    servers_for_agent,
    switched_state,
    with_states,
)
from acp_tui.config.mcp.other_notations import keys_looked_for, servers_in
from acp_tui.config.mcp.project_files import PROJECT_FILES, ProjectServers, read_project_servers, with_braces
from acp_tui.config.mcp.resolved_server import ResolvedServer
from acp_tui.config.mcp.server import Connection, Server, parse
from acp_tui.config.mcp.server_resolution import (
    CannotSendError,
    ProgramNotFoundError,
    absolute_file,
    connection_for,
    environment_names,
    resolve_server,
    resolved_program,
    start_failure,
)
from acp_tui.config.mcp.server_state import ServerState, states_in
from acp_tui.config.mcp.sign_in_settings import SignInSettings
from acp_tui.config.mcp.sources import from_claude_code, from_document, from_json, from_json_file

__all__ = [
    "PROJECT_FILES",
    "CannotSendError",
    "Connection",
    "ProgramNotFoundError",
    "ProjectServers",
    "ResolvedServer",
    "SentServer",
    "Server",
    "ServerState",
    "SignInSettings",
    "UnsentServer",
    "absolute_file",
    "bridge_reason",
    "check_sendable",
    "connection_for",
    "environment_names",
    "from_claude_code",
    "from_document",
    "from_json",
    "from_json_file",
    "keys_looked_for",
    "parse",
    "read_project_servers",
    "reason_off",
    "resolve_server",
    "resolved_program",
    "servers_for_agent",
    "servers_in",
    "start_failure",
    "states_in",
    "switched_state",
    "with_braces",
    "with_states",
]
