"""Records each call that passes through a bridge: in the session, and in the log of the MCP server."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths
from acp_tui.mcp.recordable import recordable, recordable_result
from acp_tui.mcp.secrets import mask_secrets, secret_values
from acp_tui.session.events import McpCalled
from acp_tui.store.mcp.mcp_log import McpLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.session.events import Event
    from acp_tui.store.mcp.mcp_log import RecordKind

_MESSAGE_KEYS = ("level", "logger", "data")
_KINDS: dict[str, RecordKind] = {"stderr": "stderr", "noise": "stdout"}


class CallRecords:
    """Records the calls of one server's tools in one conversation, and the output of the server."""

    def __init__(self, server: ResolvedServer, note: Callable[[Event], None]) -> None:
        self._server = server
        self._note = note
        self._log_file = McpLog(paths().state, server.name, server.file)
        self._secrets = secret_values(server)

    async def add(self, tool: str, arguments: Any, result: Any, error: str | None, seconds: float) -> None:
        """Record a call that has ended."""
        arguments = await asyncio.to_thread(recordable, arguments, self._secrets)
        result = await asyncio.to_thread(recordable_result, result, self._secrets)
        error = None if error is None else mask_secrets(error, self._secrets)
        self._note(McpCalled(self._server.name, tool, arguments, result, error, round(seconds, 4)))
        await asyncio.to_thread(self._write, tool, arguments, result, error, seconds)

    async def log(self, kind: str, text: str) -> None:
        """Add output of the server to the server's log.

        `kind` is `stderr`, `noise` (lines on stdout that are not messages), or `message` (MCP log messages as
        lines of JSON).
        """
        if kind == "message":
            await asyncio.to_thread(self._write_messages, text)
            return
        record = _KINDS.get(kind)
        lines = [mask_secrets(line, self._secrets) for line in text.splitlines() if line.strip()]
        if record is not None:
            await asyncio.to_thread(self._write_lines, record, lines)

    def _write_messages(self, text: str) -> None:
        for line in text.splitlines():
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict):
                message = {"data": line}  # the line was cut, or says how many lines are missing
            fields = {key: recordable(message.get(key, ""), self._secrets) for key in _MESSAGE_KEYS}
            self._log_file.add("log", source="bridge", **fields)

    def _write_lines(self, kind: RecordKind, lines: list[str]) -> None:
        for line in lines:
            self._log_file.add(kind, source="bridge", line=line)

    def _write(self, tool: str, arguments: Any, result: Any, error: str | None, seconds: float) -> None:
        outcome = {"result": result} if error is None else {"failure": error}
        called = {"tool": tool, "arguments": arguments, **outcome, "seconds": round(seconds, 3)}
        self._log_file.add("call", source="bridge", **called)
