"""The demo as an MCP client: it connects to a server of the session when the server is first used.

Importing the MCP SDK takes a second, so this module is imported inside functions.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, CallToolResult, ElicitRequestParams, ElicitResult, Implementation

from acp_tui import __version__

if TYPE_CHECKING:
    from mcp.shared.dispatcher import ProgressFnT

    AskUser = Callable[[str, ElicitRequestParams], Awaitable[ElicitResult]]
    """Asks the user a question of an MCP server. The first argument is the name of the server."""

_Result = TypeVar("_Result")
McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio

CONNECT_SECONDS = 30


class McpConnection:
    """The connection to one server. A separate task keeps the connection open until `close`."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.ask_user: AskUser | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[Client]

    async def client(self) -> Client:
        """Connect if necessary, and return the connected client. Raises `ConnectionError`."""
        if self._task is None or self._task.done():
            self._opened = asyncio.get_running_loop().create_future()
            self._closing.clear()
            self._task = asyncio.create_task(self._keep_open())
        return await asyncio.shield(self._opened)

    async def read(self, request: Callable[[Client], Awaitable[_Result]]) -> _Result:
        """Send a request that changes nothing. Raises `ConnectionError` with the reason of a failure.

        If the server has exited since it was last used, it is started again.
        """
        try:
            return await request(await self.client())
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                raise ConnectionError(error.message) from None
            await self.close()
        try:
            return await request(await self.client())
        except MCPError as error:
            raise ConnectionError(error.message) from None

    async def call(self, tool: str, arguments: dict[str, Any], on_progress: ProgressFnT) -> CallToolResult:
        """Call a tool. Raises `ConnectionError` if the server does not answer with a result."""
        try:
            return await (await self.client()).call_tool(tool, arguments, progress_callback=on_progress)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self.close()  # the next call starts the server again
            raise ConnectionError(error.message) from None

    async def close(self) -> None:
        """Close the connection. The process of a stdio server ends."""
        if self._task is None:
            return
        self._closing.set()
        if not self._opened.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    async def _keep_open(self) -> None:
        try:
            async with self._connect() as client:
                self._opened.set_result(client)
                await self._closing.wait()
        except Exception as error:
            if not self._opened.done():
                self._opened.set_exception(ConnectionError(_reason(error)))
                self._opened.exception()  # else asyncio logs the error if the waiting turn was cancelled

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Client]:
        async with AsyncExitStack() as stack:
            server = self.server
            mode = "legacy"  # without `server/discover`, which old servers may never answer
            if isinstance(server, McpServerStdio):
                env = os.environ | {variable.name: variable.value for variable in server.env}
                program = StdioServerParameters(command=server.command, args=server.args, env=env)
                transport = stdio_client(program, errlog=sys.stderr)
            elif isinstance(server, HttpMcpServer):
                headers = {header.name: header.value for header in server.headers}
                timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=timeout))
                transport, mode = streamable_http_client(server.url, http_client=http), "auto"
            elif isinstance(server, SseMcpServer):
                transport = sse_client(server.url, {header.name: header.value for header in server.headers})
            else:
                raise ConnectionError("the demo does not speak MCP over ACP")
            info = Implementation(name="acp-tui-demo", version=__version__)
            client = Client(transport, mode=mode, elicitation_callback=self._ask_user, client_info=info)
            yield await stack.enter_async_context(client)

    async def _ask_user(
        self,
        context: Any,  # noqa: ARG002 - the SDK passes it by name
        params: ElicitRequestParams,
    ) -> ElicitResult:
        if self.ask_user is None:
            return ElicitResult(action="decline")
        return await self.ask_user(self.server.name, params)


def _reason(error: BaseException) -> str:
    """Return the message of an error, or the name of its type if the message is empty.

    For an exception group, use the first member.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
