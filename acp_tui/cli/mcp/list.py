"""`acp-tui mcp list`: lists the MCP servers, where each is defined, and which agents get it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from acp_tui.agents import catalogue
from acp_tui.cli.mcp.server_selection import add_file_option, servers_here
from acp_tui.cli.settings_problems import print_problem_count
from acp_tui.config import mcp
from acp_tui.config import settings as config
from acp_tui.config.problems import closest_match
from acp_tui.console.messages import print_message
from acp_tui.console.tables import labelled
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line
from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from acp_tui.config.mcp import Server
    from acp_tui.config.settings import Settings

# What may remain of a header value without its ${…} references.
_NOT_SECRET = re.compile(r"\s*(?:bearer|basic|token)?\s*", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{[\w:]+\}")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    add_file_option(parser)
    parser.add_argument("--agent", metavar="NAME", help="show only the servers given to this agent")


def run(args: argparse.Namespace) -> int:
    """Print the servers and where each is configured."""
    here = servers_here(args.mcp_config)
    settings, servers = here.settings, here.servers
    if args.agent is not None:
        _require_known(args.agent, settings, servers)
    if not servers and not here.withheld:
        print(
            f"No MCP servers: none in {config.config_file()} or this folder, and no --mcp-config was given."
        )
    for server in servers:
        print("\n".join(_server_lines(server, _recipients(server, servers, args.agent))))
    for unsent in here.withheld:
        print("\n".join(_server_lines(unsent.server, ("left out", unsent.reason))))
    for problem in here.problems:
        print_message(problem)
    print_problem_count(settings)
    return 0


def _require_known(agent: str, settings: Settings, servers: list[Server]) -> None:
    """Raise `UserError` if an agent is neither known nor named in the definition of a server."""
    names = {*catalogue.known_agents(settings), *(name for server in servers for name in server.agents or [])}
    if agent not in names:
        guess = closest_match(agent, names)
        raise UserError(
            f'Unknown agent "{agent}"' + (f"; did you mean {guess}?" if guess else "."), exit_code=2
        )


def _server_lines(server: Server, recipients: tuple[str, str]) -> list[str]:
    if server.transport == "stdio":
        fields = [("command", redact_text(shlex.join([server.command, *server.args])))]
    else:
        fields = [(server.transport, redact_text(server.url))]
    fields += [("env", pair) for pair in _mask_secrets(server.env, "=")]
    fields += [("header", pair) for pair in _mask_secrets(server.headers, ": ")]
    fields += _options(server)
    if server.extra:
        fields.append(("unused", f"{', '.join(server.extra)}: not part of the protocol"))
    fields.append(recipients)
    return [visible_line(f"{server.name}  {server.origin}"), *labelled(fields, "    ", commands=("command",))]


def _options(server: Server) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each option that is set."""
    if server.cwd:
        yield "folder", server.cwd
    if server.timeout is not None:
        yield "timeout", f"{server.timeout:g} s for each call"
    if server.include_tools is not None:
        yield "tools", f"only {', '.join(server.include_tools) or 'none'}"
    if server.exclude_tools:
        yield "tools", f"not {', '.join(server.exclude_tools)}"


def _mask_secrets(values: Mapping[str, str], separator: str) -> list[str]:
    """Return lines such as `NAME=VALUE`, with possible secrets masked. References to variables are shown."""
    return [
        f"{name}{separator}{MASK if is_secret_name(name) and not _is_harmless(value) else redact_text(value)}"
        for name, value in values.items()
    ]


def _is_harmless(value: str) -> bool:
    return _NOT_SECRET.fullmatch(_REFERENCE.sub("", value)) is not None


def _recipients(server: Server, servers: list[Server], agent: str | None) -> tuple[str, str]:
    """Return "sent" and the agents that get the server, or "left out" and the reason.

    Which transports an agent supports is unknown until it runs, hence texts such as "if it supports sse".
    """
    recipient = agent or (server.agents[0] if server.agents else "")
    _, left_out = mcp.servers_for_agent(servers, recipient, http=True, sse=True)
    reason = next((left.reason for left in left_out if left.server is server), None)
    if reason:
        return "left out", reason
    condition = "" if server.transport == "stdio" else f", if it supports {server.transport}"
    return "sent", f"to {agent or ', '.join(server.agents or ['every agent'])}{condition}"
