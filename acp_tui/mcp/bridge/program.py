"""The program of `acp-tui mcp bridge`. It runs until the agent, the app or a signal ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp import ResolvedServer
from acp_tui.errors import UserError
from acp_tui.mcp.app_link import AppLink
from acp_tui.mcp.bridge.bridge import Bridge
from acp_tui.mcp.bridge.call_guard import NO_APP, AppCallGuard, NoCallGuard
from acp_tui.mcp.bridge.standard_streams import open_standard_streams
from acp_tui.mcp.bridge.stdio_upstream import StdioUpstream
from acp_tui.mcp.json_rpc_peer import PeerClosedError, RpcError

if TYPE_CHECKING:
    from acp_tui.mcp.bridge.call_guard import CallGuard
    from acp_tui.mcp.bridge.upstream import Downstream, Upstream
    from acp_tui.mcp.json_rpc_peer import SocketStream


async def run_with_app(name: str, socket: Path, session_key: str) -> None:
    """Run a bridge to the server `name`. The app that listens on `socket` sends the server's definition.

    Raises `UserError`.
    """
    link = await AppLink.connect(socket, session_key)
    try:
        try:
            found = await link.request("server", name=name)
        except (PeerClosedError, RpcError) as error:
            raise UserError(f"The MCP server {name} is not available: {error}") from None
        os.environ.update(found["environ"])
        roots = [Path(root) for root in found["roots"]]
        server = ResolvedServer.from_json(found["server"])
        stream = await open_standard_streams()
        await _run(server, stream, AppCallGuard(link, name, forms=found["forms"]), roots, ends_with=link)
    finally:
        await link.close()


async def run_alone(server: ResolvedServer) -> None:
    """Run a bridge to a server without the app. Raises `UserError`."""
    print(f"acp-tui mcp bridge {server.name}: {NO_APP}", file=sys.stderr)
    await _run(server, await open_standard_streams(), NoCallGuard(), [Path.cwd()])


async def _run(
    server: ResolvedServer,
    stream: SocketStream,
    guard: CallGuard,
    roots: list[Path],
    ends_with: AppLink | None = None,
) -> None:
    bridge = Bridge(
        server,
        stream,
        guard,
        roots=roots,
        open_upstream=StdioUpstream.start if server.transport == "stdio" else open_sdk_upstream,
        open_translator=open_sdk_upstream,
    )
    running = asyncio.create_task(bridge.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, running.cancel)
    waits = {running}
    if ends_with is not None:
        waits.add(asyncio.create_task(ends_with.wait_closed()))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    await asyncio.wait(waits)
    if not running.cancelled():
        running.result()


async def open_sdk_upstream(
    server: ResolvedServer, downstream: Downstream, capabilities: dict[str, Any]
) -> Upstream:
    """Connect to a server with the SDK, which is imported only here. Raises `RpcError`."""
    from acp_tui.mcp.bridge.sdk_upstream import SdkUpstream

    return await SdkUpstream.connect(server, downstream, capabilities)
