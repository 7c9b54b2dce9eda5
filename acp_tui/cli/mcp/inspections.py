"""Inspects several servers at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_selection import ServersHere, servers_here
from acp_tui.cli.options import FAILED, OK
from acp_tui.config import mcp
from acp_tui.console import labelled, print_json, print_message
from acp_tui.mcp.callbacks import ServerHandlers
from acp_tui.mcp.failures import FailureCause
from acp_tui.mcp.inspection import FailureInfo, Inspection, inspect
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import Server
    from acp_tui.mcp.inspection_record import ToolComparison


@dataclass(frozen=True, slots=True)
class Inspected:
    """A server, what it offers, and how its tools differ from those that the user accepted."""

    server: Server
    found: Inspection
    tools: ToolComparison


def enabled_servers(here: ServersHere) -> list[Server]:
    """Return the servers that are not disabled. Of several with the same name, only the last one counts."""
    by_name = {server.name: server for server in here.servers}
    return [server for server in by_name.values() if server.is_on]


async def inspect_servers(servers: Sequence[Server], *, source: str, accept: bool = False) -> list[Inspected]:
    """Inspect the servers concurrently, and save the results.

    Args:
        servers: The servers.
        source: The name of the action, for the servers' logs.
        accept: Whether the user accepts the current tools.
    """
    return list(await asyncio.gather(*(_inspect(server, source, accept) for server in servers)))


async def _inspect(server: Server, source: str, accept: bool) -> Inspected:
    from acp_tui.mcp.failures import ServerFailure
    from acp_tui.mcp.inspection_record import save_inspection
    from acp_tui.mcp.server_recorder import ServerRecorder
    from acp_tui.mcp.sign_in.actions import provider_for

    try:
        resolved = mcp.resolve_server(server)
    except mcp.CannotSendError as error:
        found = _not_started(server, error)
        return Inspected(server, found, save_inspection(server.digest(), found))
    recorder = ServerRecorder(resolved, source)
    found = await inspect(
        resolved,
        roots=[Path.cwd()],
        auth=provider_for(resolved),
        handlers=recorder.handlers(ServerHandlers(on_waiting=print_message)),
    )
    if found.protocol_version:
        recorder.connected(found.protocol_version, found.server_version)
    if found.failure is not None:
        recorder.failed(ServerFailure(found.failure.cause, found.failure.sentence))
    return Inspected(server, found, save_inspection(resolved.digest, found, accept=accept))


def _not_started(server: Server, error: mcp.CannotSendError) -> Inspection:
    cause = FailureCause.CONFIGURATION
    if isinstance(error, mcp.ProgramNotFoundError):
        cause = FailureCause.COMMAND_NOT_FOUND
    failure = FailureInfo(cause, mcp.start_failure(server, error))
    return Inspection(server.name, time.time(), status="failed", failure=failure)


def print_offers(
    args: argparse.Namespace,
    document: Callable[[Inspection], dict[str, Any]],
    rows: Callable[[Inspection], list[tuple[str, str]]],
    lists: tuple[str, ...],
) -> int:
    """Print what the server `args.name`, or every enabled server, offers.

    Return 1 if a server cannot be used, or did not send one of the lists.

    Args:
        args: The arguments of the action, whose name is `args.action`.
        document: Returns what is printed with `--json`.
        rows: Returns the rows that are printed without `--json`, each a usage and a description.
        lists: The lists that the rows come from, as attributes of `Inspection`.
    """
    here = servers_here(args.mcp_config)
    servers = [here.named(args.name)] if args.name is not None else enabled_servers(here)
    inspected = [each.found for each in asyncio.run(inspect_servers(servers, source=args.action))]
    if args.json:
        print_json({"servers": [{"name": found.name, **document(found)} for found in inspected]})
    complete = True
    for found in inspected:
        failures = [found.failed_lists[each] for each in lists if each in found.failed_lists]
        if found.failure is not None:
            failures = [found.failure.sentence]
        lines = labelled(rows(found), "    ")
        if not args.json and (lines or not failures):
            print("\n".join([escape_line(found.name), *(lines or [f"    no {args.action}"])]))
        for sentence in failures:
            print_message(sentence)
        complete = complete and not failures
    if not inspected:
        print_message("No MCP server is enabled here.")
    return OK if complete else FAILED
