"""The transport below the SDK: JSON lines on standard input and output.

Most agents need nothing like it and call `acp.run_agent`. This one exists for what the SDK's agent
side does not do by itself: it hands on the calls its router does not know, tells which request a
handler answers, sends something right after an answer, and lets the demo send frames that are wrong
on purpose.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES
from acp.stdio import stdio_streams

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

Frame = dict[str, Any]
RequestId = int | str | None

_request: ContextVar[RequestId] = ContextVar("request", default=None)
"""Set while a frame is received, so the task that handles it inherits its id."""

_EXTENSIONS = frozenset({"session/delete", "logout", "$/cancel_request"})
"""Methods of the protocol that the SDK's router would refuse; with an underscore it passes them on."""


class Wire:
    """A transport for `AgentSideConnection`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._after: dict[RequestId, Callable[[], object]] = {}
        self._instead: dict[RequestId, Frame] = {}
        self._asked: dict[RequestId, Frame] = {}
        self.initialize: Frame = {}
        """What the client said of itself, as sent: the models drop what they do not know."""

    @classmethod
    async def on_stdio(cls) -> Wire:
        """The wire on this process's standard streams."""
        try:
            reader, writer = await stdio_streams(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
        except ValueError:
            raise UserError(
                "standard input and output have to be pipes, as an ACP client makes them; files will not do",
                exit_code=2,
            ) from None
        return cls(reader, writer)

    # ------------------------------------------------------------------ what the SDK calls

    async def receive(self) -> Frame | None:
        """The next well-formed frame; None at the end. What is malformed is answered here."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                print("demo: a line over the limit was dropped", file=sys.stderr)
                continue
            if not line:
                await asyncio.sleep(0)  # what was asked just before the end is still answered
                return None
            if line.strip() and (frame := await self._understood(line)) is not None:
                return frame

    async def send(self, message: Frame) -> None:
        """Write one frame, and what belongs after it."""
        is_answer = "method" not in message
        if is_answer:
            message = self._instead.pop(message.get("id"), message)
        elif "id" in message:
            self._asked[message["id"]] = message
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        # All senders wait for the pipe on one future of the SDK's: a cancelled turn must not cancel it.
        await asyncio.shield(self._writer.drain())
        if is_answer and (after := self._after.pop(message.get("id"), None)):
            after()

    async def close(self) -> None:
        """Nothing more will be said."""
        self._writer.close()

    # ------------------------------------------------------------------ what the demo needs beside it

    @property
    def request_id(self) -> RequestId:
        """The id of the request that the current task answers."""
        return _request.get()

    def after_answer(self, job: Callable[[], object]) -> None:
        """Do this when the request at hand has been answered.

        Only then does the client of `session/new` know the session that an update would speak of.
        """
        self._after[_request.get()] = job

    def answer_instead(self, **outcome: Any) -> None:
        """Answer the request at hand with this result or error, whatever the models would say to it."""
        request_id = _request.get()
        self._instead[request_id] = {"jsonrpc": "2.0", "id": request_id, **outcome}

    async def write_text(self, text: str) -> None:
        """Put a line on the wire that is no frame at all."""
        self._writer.write(text.encode() + b"\n")
        await asyncio.shield(self._writer.drain())

    def unanswered(self, method: str, session_id: str) -> list[RequestId]:
        """Ids of our requests that the client has not answered yet."""
        return [
            request_id
            for request_id, frame in self._asked.items()
            if frame["method"] == method and frame["params"].get("sessionId") == session_id
        ]

    # ------------------------------------------------------------------ reading

    async def _understood(self, line: bytes) -> Frame | None:
        try:
            frame = json.loads(line)
        except ValueError:
            await self._complain(-32700, "Parse error")
            return None
        if not _well_formed(frame):
            await self._complain(-32600, "Invalid request")
            return None
        return self._translated(frame) if "method" in frame else self._answer(frame)

    def _translated(self, frame: Frame) -> Frame:
        _request.set(frame.get("id"))
        method = frame["method"]
        if method == "initialize" and isinstance(frame.get("params"), dict):
            self.initialize = frame["params"]
        return {**frame, "method": f"_{method}"} if method in _EXTENSIONS else frame

    def _answer(self, frame: Frame) -> Frame:
        self._asked.pop(frame.get("id"), None)
        error = frame.get("error")
        if error is None or isinstance(error, dict):
            return frame
        return {"id": frame.get("id"), "error": {"code": -32603, "message": str(error)}}

    async def _complain(self, code: int, message: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


def _well_formed(frame: Any) -> bool:
    return (
        isinstance(frame, dict)
        and isinstance(frame.get("id"), int | str | None)
        and isinstance(frame.get("method", ""), str)
    )
