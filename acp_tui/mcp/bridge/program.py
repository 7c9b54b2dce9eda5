"""The program of `acp-tui mcp bridge`. It runs until the agent, the app or a signal ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from acp_tui.config.mcp import ResolvedServer
from acp_tui.errors import UserError
from acp_tui.mcp.app_link import AppLink, open_standard_streams
from acp_tui.mcp.bridge.bridge import (
    NO_APP,
    AppCallGuard,
    Bridge,
    CallGuard,
    Downstream,
    NoCallGuard,
    Upstream,
)
from acp_tui.mcp.failures import error_lines
from acp_tui.mcp.json_rpc_peer import (
    SERVER_ERROR,
    JsonRpcError,
    JsonRpcPeer,
    PeerClosedError,
    RequestId,
    SocketStream,
)
from acp_tui.processes.piped_process import PipedProcess, StartError, signal_name
from acp_tui.session.safe_text import escape_line

EXIT_SECONDS = 0.5
"""How long to wait for the exit of a process that has closed its stdout."""


class StdioUpstream:
    """A server's process, started by `start`."""

    def __init__(self, server: ResolvedServer, process: PipedProcess, downstream: Downstream) -> None:
        self._server = server
        self._process = process

        async def request(method: str, params: Any, _request_id: RequestId) -> Any:
            return await downstream.request(method, params)

        self._peer = JsonRpcPeer(
            process,
            on_request=request,
            on_notification=downstream.notify,
            on_noise=lambda line: downstream.log("noise", line.decode("utf-8", "replace")),
        )
        self._task = asyncio.create_task(self._peer.run())

    @classmethod
    async def start(
        cls, server: ResolvedServer, downstream: Downstream, _capabilities: dict[str, Any]
    ) -> StdioUpstream:
        """Start the server. Raises `JsonRpcError`."""
        folder = server.cwd or downstream.roots[0]
        if not Path(folder).is_dir():
            reason = f"its folder {escape_line(str(folder))} does not exist"
            raise JsonRpcError(SERVER_ERROR, f"{server.name} was not started: {reason}.")
        try:
            process = await PipedProcess.start(
                server.command,
                [server.command, *server.args],
                cwd=str(folder),
                env={**os.environ, **server.env},
                on_stderr=lambda block: downstream.log("stderr", block.decode("utf-8", "replace")),
            )
        except StartError as error:
            raise JsonRpcError(SERVER_ERROR, f"{server.name} could not be started: {error}.") from None
        return cls(server, process, downstream)

    async def request(self, method: str, params: Any, request_id: RequestId | None = None) -> Any:
        """Pass a request on to the server and return the result. Raises `JsonRpcError`.

        The request keeps the id `request_id`. A new id is chosen if `request_id` is None or already in use.
        """
        try:
            return await self._peer.request(method, params, request_id=request_id)
        except PeerClosedError:
            raise JsonRpcError(SERVER_ERROR, await self._end_sentence()) from None

    def notify(self, method: str, params: Any) -> None:
        self._peer.notify(method, params)

    async def close(self) -> None:
        await self._process.end()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _end_sentence(self) -> str:
        """Return how the server ended, with what it wrote to stderr about the reason."""
        waiting = asyncio.create_task(self._process.wait_for_end())
        await asyncio.wait([waiting], timeout=EXIT_SECONDS)
        waiting.cancel()
        code = self._process.returncode
        if code is None:
            how = "closed its output" if not self._process.ended else "was ended"
        else:
            how = f"exited with code {code}" if code >= 0 else f"was ended by {signal_name(-code)}"
        lines = [escape_line(line) for line in error_lines(self._process.stderr_tail())]
        said = f"; it wrote: {' / '.join(lines)}" if lines else ""
        return f"The MCP server {self._server.name} {how}{said}."


async def run_with_app(name: str, socket: Path, session_key: str) -> None:
    """Run a bridge to the server `name`. The app that listens on `socket` sends the server's definition.

    Raises `UserError`.
    """
    link = await AppLink.connect(socket, session_key)
    try:
        try:
            found = await link.request("server", name=name)
        except (PeerClosedError, JsonRpcError) as error:
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
    """Connect to a server with the SDK, which is imported only here. Raises `JsonRpcError`."""
    from acp_tui.mcp.bridge.sdk_upstream import SdkUpstream

    return await SdkUpstream.connect(server, downstream, capabilities)
