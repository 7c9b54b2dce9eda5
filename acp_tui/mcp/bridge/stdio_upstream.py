"""A stdio server behind a bridge. Messages from and to the server are passed on unchanged."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.mcp.error_lines import error_lines
from acp_tui.mcp.json_rpc_peer import SERVER_ERROR, JsonRpcPeer, PeerClosedError, RequestId, RpcError
from acp_tui.processes.piped_process import PipedProcess, StartError, signal_name
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.bridge.upstream import Downstream

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
        """Start the server. Raises `RpcError`."""
        folder = server.cwd or downstream.roots[0]
        if not Path(folder).is_dir():
            reason = f"its folder {visible_line(str(folder))} does not exist"
            raise RpcError(SERVER_ERROR, f"{server.name} was not started: {reason}.")
        try:
            process = await PipedProcess.start(
                server.command,
                [server.command, *server.args],
                cwd=str(folder),
                env={**os.environ, **server.env},
                on_stderr=lambda block: downstream.log("stderr", block.decode("utf-8", "replace")),
            )
        except StartError as error:
            raise RpcError(SERVER_ERROR, f"{server.name} could not be started: {error}.") from None
        return cls(server, process, downstream)

    async def request(self, method: str, params: Any, request_id: RequestId | None = None) -> Any:
        """Pass a request on to the server and return the result. Raises `RpcError`.

        The request keeps the id `request_id`. A new id is chosen if `request_id` is None or already in use.
        """
        try:
            return await self._peer.request(method, params, request_id=request_id)
        except PeerClosedError:
            raise RpcError(SERVER_ERROR, await self._end_sentence()) from None

    def notify(self, method: str, params: Any) -> None:
        """Pass a notification on to the server."""
        self._peer.notify(method, params)

    async def close(self) -> None:
        """End the server and all processes it started."""
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
        lines = [visible_line(line) for line in error_lines(self._process.stderr_tail())]
        said = f"; it wrote: {' / '.join(lines)}" if lines else ""
        return f"The MCP server {self._server.name} {how}{said}."
