"""Inspects several servers at once."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config import mcp
from acp_tui.console.messages import print_message
from acp_tui.mcp.failures import FailureCause
from acp_tui.mcp.handlers import ServerHandlers
from acp_tui.mcp.inspection import FailureInfo, Inspection, inspect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.cli.mcp.server_selection import ServersHere
    from acp_tui.config.mcp import Server
    from acp_tui.mcp.inspection_record import ToolComparison

__all__ = ["Inspected", "enabled_servers", "inspect_servers"]


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
