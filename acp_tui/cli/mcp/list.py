"""`acp-tui mcp list`: lists the MCP servers, where each is defined, and which agents get it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_fields import DIGEST_CHARACTERS, ServerField, definition_json, field_lines
from acp_tui.cli.mcp.server_selection import (
    ServersHere,
    named_agents,
    require_known_agent,
    servers_here,
    stored_sign_in,
)
from acp_tui.cli.options import add_file_option, print_problem_count
from acp_tui.cli.project_trust import read_by_agent
from acp_tui.config import agent_catalogue, mcp
from acp_tui.config import settings as config
from acp_tui.config.mcp_sources import DEMO_AGENT, demo_server
from acp_tui.config.paths import paths
from acp_tui.console import pluralize, print_json, print_message, wrapped
from acp_tui.session.safe_text import escape_line
from acp_tui.store.mcp_facts import McpFacts, ServerFacts, ServerTest

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import Server, ServerState, UnsentServer
    from acp_tui.config.settings import Settings


def fact_fields(server: Server) -> Iterator[ServerField]:
    """Yield fields that say when the server was last tested, given to an agent, and used, if ever."""
    facts = _saved_facts(server)
    if facts.tested is not None:
        yield ServerField("tested", f"{_moment(facts.tested.at)}: {_outcome(facts.tested)}")
    if facts.sent is not None:
        session = f", session {facts.sent.session}" if facts.sent.session else ""
        yield ServerField("given", f"{_moment(facts.sent.at)}: to {facts.sent.agent}{session}")
    if facts.used is not None:
        yield ServerField(
            "used", f"{_moment(facts.used.at)}: {facts.used.tool}; evidence: {facts.used.evidence}"
        )


def facts_json(server: Server) -> dict[str, Any]:
    """Return the facts about a server as JSON values: its last test, its last agent and its last use.

    `tools_agreed_at` is when the user accepted the server's tools. Values are None for events that are not
    saved.
    """
    facts = _saved_facts(server)
    return {
        "tested": asdict(facts.tested) if facts.tested is not None else None,
        "given": asdict(facts.sent) if facts.sent is not None else None,
        "used": asdict(facts.used) if facts.used is not None else None,
        "tools_agreed_at": facts.accepted.at if facts.accepted is not None else None,
    }


def _saved_facts(server: Server) -> ServerFacts:
    return McpFacts(paths().state).read(server.name, server.digest())


def _outcome(test: ServerTest) -> str:
    if test.status != "connected":
        return f"{test.status}. {test.sentence}"
    counts = (
        f"{pluralize(test.tools, 'tool')}, {pluralize(test.prompts, 'prompt')}, "
        f"{pluralize(test.resources, 'resource')}"
    )
    return f"connected, {counts}"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def configure(parser: argparse.ArgumentParser) -> None:
    add_file_option(parser)
    parser.add_argument("--agent", metavar="NAME", help="show which servers this agent gets")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the servers, where each is defined, and which agents get it."""
    here = servers_here(args.mcp_config)
    if args.agent is not None:
        require_known_agent(args.agent, here)
    if args.agent == DEMO_AGENT:
        here.servers.insert(0, demo_server(here.settings.mcp_states))
    found = [(server, _recipients(server, here, args.agent)) for server in here.servers]
    found += [(unsent.server, _withheld(unsent, here, args.agent)) for unsent in here.withheld]
    own = _own_server_json(here.settings, args.agent)
    if args.json:
        servers = [_server_json(server, recipients) for server, recipients in found]
        data = {"servers": servers, "own_server": own, "problems": here.problems}
        print_json(data)
        return 0
    if not found:
        file = escape_line(str(config.config_file()))
        for sentence in (
            f"No MCP servers: none in {file} or this folder, and no --mcp-config was given.",
            "`acp-tui mcp add` adds a server, and `acp-tui mcp import` copies servers from other programs.",
        ):
            print("\n".join(wrapped(sentence)))
    for server, recipients in found:
        print("\n".join(field_lines(server, [*_facts(server, recipients)])))
    if own is not None:
        agents = ", ".join(own["agents"] or ["every agent"])
        print(escape_line(f"acp-tui's own tools are given to {agents} ({own['origin']})."))
    for problem in here.problems:
        print_message(problem)
    print_problem_count(here.settings)
    return 0


def _own_server_json(settings: Settings, agent: str | None) -> dict[str, Any] | None:
    """Return which agents get acp-tui's own MCP server; None if no agent gets it.

    With an `agent`, all other agents are ignored.
    """
    own = settings.own_server
    if not (own.enabled if agent is None else own.is_for(agent)):
        return None
    agents = [agent] if agent is not None else own.agents or None
    return {"agents": agents, "origin": str(settings.origin("own_server.enabled"))}


@dataclass(frozen=True, slots=True)
class Recipients:
    """Which agents are given a server."""

    left_out: str | None = None  # why no agent gets the server, as a clause
    agents: list[str] | None = None  # None: every agent
    exceptions: list[str] = field(default_factory=list)  # agents for which the user turned the server off
    loaded_by: dict[str, str] = field(
        default_factory=dict
    )  # the agents that read the server's file themselves, each with a sentence that says so


def _recipients(server: Server, here: ServersHere, agent: str | None) -> Recipients:
    """Return which agents get a server, assuming that they support its transport."""
    readers = _readers(server, here, agent)
    if agent is not None:
        reason = readers.get(agent) or _reason_left_out(server, here, agent)
        return Recipients(reason, [agent], loaded_by=readers)
    named = [name for name in named_agents(server) if mcp.reason_off(server, name) is None]
    is_for_all = mcp.reason_off(server, "") is None
    if not is_for_all and not named:
        reason = _reason_left_out(server, here, next(iter(server.agents or []), ""))
        return Recipients(reason, loaded_by=readers)
    reason = _reason_left_out(server, here, "" if is_for_all else named[0])
    off = [name for name in server.state.disabled_for if is_for_all]
    return Recipients(reason, None if is_for_all else named, off, readers)


def _withheld(unsent: UnsentServer, here: ServersHere, agent: str | None) -> Recipients:
    readers = _readers(unsent.server, here, agent)
    reason = unsent.reason if agent is None else readers.get(agent, unsent.reason)
    return Recipients(reason, loaded_by=readers)


def _readers(server: Server, here: ServersHere, agent: str | None) -> dict[str, str]:
    """Return the agents that read the server's file themselves, each with the sentence from `read_by_agent`.

    If `agent` is given, all other agents are left out.
    """
    if server.project is None:
        return {}
    return {
        known.name: read_by_agent(known.title, name)
        for known in agent_catalogue.known_agents(here.settings).values()
        for name in known.project_mcp
        if agent in (None, known.name) and server.file == server.project / name
    }


def _reason_left_out(server: Server, here: ServersHere, agent: str) -> str | None:
    _, left_out = mcp.servers_for_agent(here.servers, agent, http=True, sse=True)
    return next((left.reason for left in left_out if left.server is server), None)


def _facts(server: Server, recipients: Recipients) -> Iterator[ServerField]:
    if (access := _access(server)) is not None:
        yield access
    agreed = "; you have approved this definition" if server.project and not recipients.left_out else ""
    yield ServerField("digest", f"{server.digest()[:DIGEST_CHARACTERS]}{agreed}")
    if server.state.origin:
        yield ServerField("switched", f"{_switches(server.state)}  ({server.state.origin})")
    if recipients.left_out:
        yield ServerField("left out", recipients.left_out)
    else:
        agents = "every agent" if recipients.agents is None else ", ".join(recipients.agents)
        off = f" except {', '.join(recipients.exceptions)}" if recipients.exceptions else ""
        yield ServerField("sent", f"to {agents}{off}{_way(server)}")
    for sentence in recipients.loaded_by.values():
        if sentence != recipients.left_out:
            yield ServerField("loaded", sentence)
    yield from fact_fields(server)


def _access(server: Server) -> ServerField | None:
    """Return whether the user is signed in, as a field.

    None if no sign-in is stored and the definition does not ask the user to sign in.
    """
    state = stored_sign_in(server)
    if state is not None:
        return ServerField("access", state.describe())
    if server.sign_in is None or server.sign_in.grant == "client_credentials":
        return None
    return ServerField("access", f"not signed in; run `acp-tui mcp sign-in {shlex.quote(server.name)}`")


def _way(server: Server) -> str:
    """Return how an agent gets a server, as the end of a sentence; empty for stdio without the bridge."""
    if reason := mcp.bridge_reason(server, signed_in=stored_sign_in(server) is not None):
        return f", through the bridge because {reason}"
    if server.transport == "stdio":
        return ""
    if server.connection == "direct":
        return f", if the agent supports {server.transport}"
    return f", through the bridge if the agent lacks {server.transport}"


def _switches(state: ServerState) -> str:
    words = [] if state.enabled is None else ["on" if state.enabled else "off"]
    words += [f"on for {agent}" for agent in state.enabled_for]
    words += [f"off for {agent}" for agent in state.disabled_for]
    return ", ".join(words)


def _server_json(server: Server, recipients: Recipients) -> dict[str, Any]:
    state, signed_in = server.state, stored_sign_in(server)
    return definition_json(server) | {
        "project": None if server.project is None else str(server.project),
        "enabled": server.enabled,
        "agents": server.agents,
        "state": state.to_entry() | ({"origin": state.origin} if state.origin else {}),
        "signed_in": None if signed_in is None else signed_in.as_json(),
        "left_out": recipients.left_out,
        "sent_to": [] if recipients.left_out else "all" if recipients.agents is None else recipients.agents,
        "not_sent_to": recipients.exceptions,
        "bridge": mcp.bridge_reason(server, signed_in=signed_in is not None),
        "loaded_by": list(recipients.loaded_by),
        **facts_json(server),
    }
