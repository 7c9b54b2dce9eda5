"""Records in a server's log what happens on a connection to the server. Does not import the SDK."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from acp_tui.config.paths import paths
from acp_tui.mcp.callbacks import ServerHandlers, ServerLogMessage
from acp_tui.mcp.failures import ServerFailure, mask_secrets, secret_values
from acp_tui.store.mcp_log import McpLog, RecordKind

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.calls import CallResult


BURST_LINES = 1000
"""The number of lines that may be logged at once: enough for a stack trace or a build."""
LINES_PER_SECOND = 20.0
MAX_LINE_CHARACTERS = 2000
MAX_BLOCK_CHARACTERS = 1 << 20
"""The number of characters read from one block of output; the rest is dropped."""


class LogBudget:
    """Lets a burst of lines pass, and then a few in each second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = float(BURST_LINES)
        self._at = clock()
        self._dropped = 0

    def pass_lines(self, text: str) -> list[str]:
        """Return those lines of the text that may be logged. Empty lines are left out.

        If lines were dropped before, the first returned line says how many.
        """
        now = self._clock()
        self._left = min(BURST_LINES, self._left + (now - self._at) * LINES_PER_SECOND)
        self._at = now
        lines = [line for line in text[:MAX_BLOCK_CHARACTERS].splitlines() if line.strip()]
        room = int(self._left)
        passed = [line[:MAX_LINE_CHARACTERS] for line in lines[:room]]
        self._left -= len(passed)
        if passed and self._dropped:
            passed.insert(0, f"… {self._dropped:,} lines were not logged: the server wrote too many")
            self._dropped = 0
        self._dropped += len(lines) - len(lines[:room])
        return passed


_Value = TypeVar("_Value")


class ServerRecorder:
    """A writer of records to the log of one server. Secrets are masked."""

    def __init__(self, server: ResolvedServer, source: str) -> None:
        """Create a recorder. `source` says what the connection is for, such as "test"."""
        self._log = McpLog(paths().state, server.name, server.file)
        self._source = source
        self._secrets = secret_values(server)
        self._budget = LogBudget()

    def handlers(self, base: ServerHandlers = ServerHandlers()) -> ServerHandlers:  # noqa: B008  # frozen
        """Return callbacks that record what the server reports and then call those of `base`."""

        def stderr(line: str) -> None:
            self._add_lines("stderr", line)

        def noise(line: str) -> None:
            self._add_lines("stdout", line)

        def message(message: ServerLogMessage) -> None:
            if self._passes():
                self._add("log", level=message.level, logger=message.logger, data=message.data)

        def changed(kind: str) -> None:
            if self._passes():
                self._add("changed", list=kind)

        def repair(sentence: str) -> None:
            if self._passes():
                self._add("log", level="warning", logger="acp-tui", data=sentence)

        follow = base.on_list_changed
        return ServerHandlers(
            on_elicitation=base.on_elicitation,
            on_log=_both(message, base.on_log),
            on_list_changed=_both(changed, follow) if follow is not None else None,
            on_stderr=_both(stderr, base.on_stderr),
            on_noise=_both(noise, base.on_noise),
            on_repair=_both(repair, base.on_repair),
            on_waiting=base.on_waiting,
        )

    def connected(self, protocol_version: str, server_version: str) -> None:
        """Record that the connection is established."""
        self._add("connected", protocol=protocol_version, server=server_version)

    def failed(self, failure: ServerFailure) -> None:
        """Record why the connection failed."""
        self._add("failed", cause=failure.cause.value, sentence=failure.sentence)

    def called(self, tool: str, arguments: dict[str, Any], result: CallResult, seconds: float) -> None:
        """Record a tool call with its result."""
        answer = {"content": result.content, "structured": result.structured, "isError": result.is_error}
        self._add("call", tool=tool, arguments=arguments, result=answer, seconds=round(seconds, 3))

    def call_failed(self, tool: str, arguments: dict[str, Any], sentence: str, seconds: float) -> None:
        """Record a tool call that failed without a result."""
        self._add("call", tool=tool, arguments=arguments, failure=sentence, seconds=round(seconds, 3))

    def _passes(self) -> bool:
        """Return True if one more record may be logged. If lines were dropped before, first log how many."""
        lines = self._budget.pass_lines("record")
        for note in lines[:-1]:
            self._add("stderr", line=note)
        return bool(lines)

    def _add_lines(self, kind: RecordKind, text: str) -> None:
        for line in self._budget.pass_lines(text):
            self._add(kind, line=line)

    def _add(self, kind: RecordKind, **values: Any) -> None:
        self._log.add(kind, source=self._source, **self._masked(values))

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return mask_secrets(value, self._secrets)
        if isinstance(value, list):
            return [self._masked(item) for item in value]
        return {key: self._masked(item) for key, item in value.items()} if isinstance(value, dict) else value


def _both(
    first: Callable[[_Value], None], second: Callable[[_Value], None] | None
) -> Callable[[_Value], None]:
    def call(value: _Value) -> None:
        first(value)
        if second is not None:
            second(value)

    return call
