"""The MCP servers that are defined for the current folder, and their selection by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.project_trust import NOT_APPROVED, ProjectTrust
from acp_tui.config import agent_catalogue, mcp, mcp_sources
from acp_tui.config import settings as config
from acp_tui.config.mcp_sources import DEMO_AGENT, demo_server
from acp_tui.config.validators import closest_match
from acp_tui.errors import UsageError, UserError
from acp_tui.mcp.sign_in.token_store import SignInState, sign_in_state, uses_sign_in

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer, Server, UnsentServer
    from acp_tui.config.settings import Settings


@dataclass(frozen=True, slots=True)
class ServersHere:
    """The servers defined in the settings, in the current folder and in files given with `--mcp-config`."""

    settings: Settings
    servers: list[Server]
    """The servers that may be started. Of several with the same name, the last one is used."""
    withheld: list[UnsentServer]
    """Servers of the folder that must not be started, for example because the user has not approved them."""
    problems: list[str]
    """Sentences about the folder's files that cannot be read, or that define too many servers."""

    def named(self, name: str) -> Server:
        """Return the server with this name.

        Raises `UserError` if there is no such server, or if the server must not be started.
        """
        server = self.defined(name)
        for unsent in self.withheld:
            if unsent.server is server:
                raise UserError(f'The MCP server "{name}" ({server.origin}) is not used: {unsent.reason}.')
        return server

    def defined(self, name: str) -> Server:
        """Return the server with this name, even if the server must not be started.

        Raises `UserError` if there is none.
        """
        servers = [*(unsent.server for unsent in self.withheld), *self.servers]
        for server in reversed(servers):
            if server.name == name:
                return server
        if name == DEMO_AGENT:
            return demo_server(self.settings.mcp_states)
        guess = closest_match(name, [server.name for server in servers])
        hint = f"; did you mean {guess}?" if guess else ". `acp-tui mcp list` shows all."
        raise UsageError(f'There is no MCP server "{name}"{hint}')


def servers_here(mcp_config_files: Sequence[Path] = (), folder: Path | None = None) -> ServersHere:
    """Return the servers of a folder, by default the current one.

    The user is not asked to approve any of them.
    """
    cwd = folder or Path.cwd()
    settings = config.load(cwd)
    found = [server for file in mcp_config_files for server in mcp_sources.from_json_file(file)]
    of_files = mcp.with_states(found, settings.mcp_states)
    project = ProjectTrust(cwd, None, [*settings.mcp_servers, *of_files], states=settings.mcp_states)
    for server in project.use_saved_answers():
        project.withheld.append(mcp.UnsentServer(server, NOT_APPROVED))
    servers = [*settings.mcp_servers, *project.servers, *of_files]
    return ServersHere(settings, servers, project.withheld, project.problems)


def server_named(name: str, mcp_config_files: Sequence[Path] = ()) -> ResolvedServer:
    """Return the server with this name, ready to be started. Raises `UserError`."""
    server = servers_here(mcp_config_files).named(name)
    try:
        return mcp.resolve_server(server)
    except mcp.CannotSendError as error:
        raise UserError(mcp.start_failure(server, error)) from None


def require_known_agent(agent: str, here: ServersHere) -> None:
    """Raise `UserError` if an agent is neither known nor one of the `named_agents` of a server."""
    known = agent_catalogue.known_agents(here.settings)
    names = {*known, *(name for server in here.servers for name in named_agents(server))}
    if agent not in names:
        guess = closest_match(agent, names)
        raise UsageError(f'Unknown agent "{agent}"' + (f"; did you mean {guess}?" if guess else "."))


def named_agents(server: Server) -> list[str]:
    """Return all agents that the definition names or for which the user turned the server on."""
    return list(dict.fromkeys([*(server.agents or []), *server.state.enabled_for]))


def stored_sign_in(server: Server) -> SignInState | None:
    """Return the stored sign-in to a server; None if there is none or the server's URL cannot be resolved."""
    if not uses_sign_in(server):
        return None
    try:
        return sign_in_state(mcp.resolve_server(server).url)
    except mcp.CannotSendError:  # the URL contains an unset variable
        return None
