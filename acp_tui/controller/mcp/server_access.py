"""Access to the resources and prompts of a conversation's MCP servers, for use in what the user sends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import mcp
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.mcp.calls import PromptResult
    from acp_tui.mcp.connection import McpConnection


class OneShotServerClient:
    """Sends requests to MCP servers, each request on a connection of its own.

    If the server is a process, it ends with the connection.
    """

    def __init__(self, servers: Sequence[Server], cwd: Path) -> None:
        """Store the servers. Of several servers that are on and have the same name, use the last."""
        self._servers = servers
        self._cwd = cwd

    async def read_resource(self, server: str, uri: str) -> list[dict[str, Any]]:
        """Return the contents of a resource as blocks of type `resource`. Raises `UserError`."""
        from acp_tui.mcp.calls import read_resource

        async with self._connect(server) as connection:
            return await read_resource(connection, uri)

    async def get_prompt(self, server: str, name: str, arguments: dict[str, str]) -> PromptResult:
        """Return a prompt with its arguments filled in. Raises `UserError`."""
        from acp_tui.mcp.calls import get_prompt

        async with self._connect(server) as connection:
            return await get_prompt(connection, name, arguments)

    @asynccontextmanager
    async def _connect(self, name: str) -> AsyncGenerator[McpConnection]:
        from acp_tui.mcp.connection import connect
        from acp_tui.mcp.failures import ServerFailure
        from acp_tui.mcp.server_recorder import ServerRecorder
        from acp_tui.mcp.sign_in.actions import provider_for

        configured = next((one for one in reversed(self._servers) if one.name == name and one.is_on), None)
        if configured is None:
            raise UserError(f"The MCP server {name} is not used in this conversation.")
        try:
            server = mcp.resolve_server(configured)
        except mcp.CannotSendError as error:
            raise UserError(mcp.start_failure(configured, error)) from None
        recorder = ServerRecorder(server, "prompt")
        auth = provider_for(server)
        try:
            async with connect(
                server, roots=[self._cwd], auth=auth, handlers=recorder.handlers()
            ) as connection:
                yield connection
        except ServerFailure as failure:
            recorder.failed(failure)
            raise
