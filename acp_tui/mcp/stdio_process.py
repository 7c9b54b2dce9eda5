"""The transport over stdin and stdout of a server process.

Does not use the SDK's `stdio_client`, which hides the exit code, turns lines on stdout that are not messages
into exceptions, passes on only six environment variables, and leaves the process running if acp-tui is
killed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from acp_tui.mcp.failures import FailureCause, ServerFailure, mask_secrets, secret_values
from acp_tui.processes.piped_process import ExecError, PipedProcess, StartError
from acp_tui.protocol.json_rpc import LineSplitter, decode, is_id
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.callbacks import ServerHandlers


log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The maximum length of a server's message, also over HTTP: the SDK's 1 MB is too small for screenshots."""
MAX_NOISE_LINES = 50
"""How many noise lines (lines on stdout that are not MCP messages) to keep; `noise_count` counts all."""
MAX_LINE_CHARACTERS = 500
INVALID_ANSWER_CODE = -32098
"""The code of the error that takes the place of an answer that is not a JSON-RPC response."""
EXIT_SECONDS = 3.0
"""How long to wait for the exit of a process that has closed its stdout."""


class StdioProcess:
    """A server process, with the end of stderr and the first stdout lines that are not messages (noise)."""

    def __init__(self, server: ResolvedServer, handlers: ServerHandlers) -> None:
        self._server = server
        self._handlers = handlers
        self._secrets = secret_values(server)
        self._process: PipedProcess | None = None
        self._was_stopped = False
        self._stderr_lines = LineSplitter(MAX_LINE_CHARACTERS * 4)
        self.noise: list[str] = []
        """The first lines on stdout that were not MCP messages. They have been made safe to display."""
        self.noise_count = 0

    # ----------------------------------------------------------------- state

    @property
    def exited(self) -> bool:
        """Whether the process has ended by itself, not because acp-tui stopped it."""
        return self._process is not None and self._process.ended and not self._was_stopped

    @property
    def returncode(self) -> int | None:
        """The exit code, or the negated number of the signal that ended the process.

        None before and while the process runs, or if its watcher was killed: the watcher reports the exit.
        """
        return self._process.returncode if self._process is not None else None

    def stderr_tail(self, count: int = 200) -> list[str]:
        """Return the last lines of stderr, safe to display."""
        return self._process.stderr_tail(count) if self._process is not None else []

    # ----------------------------------------------------------------- transport

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        """Start the process and yield streams of its messages for the SDK. Raises `ServerFailure`."""
        process = self._process = await self._start()
        received_writer, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_send, to_send_reader = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with received_writer, received, to_send, to_send_reader, anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, process, received_writer)
                tasks.start_soon(self._send, process, to_send_reader)
                yield received, to_send
                tasks.cancel_scope.cancel()
        finally:
            self._was_stopped = not process.ended
            with anyio.CancelScope(shield=True):
                await process.end()
            try:
                self._on_stderr(b"\n")  # deliver a last line that has no newline
            except Exception:  # the error that ended the connection is more important
                log.exception("Storing a server's stderr failed")

    async def _start(self) -> PipedProcess:
        server = self._server
        folder = str(working_directory(server))
        if not Path(folder).is_dir():
            sentence = f"{server.name} was not started: its folder {escape_line(folder)} does not exist."
            raise ServerFailure(FailureCause.COMMAND_NOT_FOUND, sentence)
        env = {**os.environ, **server.env}
        try:
            return await PipedProcess.start(
                server.command,
                [server.command, *server.args],
                cwd=folder,
                env=env,
                on_stderr=self._on_stderr,
            )
        except StartError as error:
            reason = escape_line(str(error))
            if isinstance(error, ExecError):
                search = escape_line(env.get("PATH", os.defpath))
                reason += f". Check its command; the PATH is {search}"
            sentence = f"{server.name} could not be started: {reason}."
            raise ServerFailure(FailureCause.COMMAND_NOT_FOUND, sentence) from None

    async def _receive(
        self, process: PipedProcess, received: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines = LineSplitter(MAX_MESSAGE_BYTES)
        async with received:
            while block := await process.read():
                for line in lines.feed(block):
                    await self._receive_line(line, received)
            await self._receive_line(lines.rest(), received)
            # Pending requests fail when the stream closes, and their errors need the exit code.
            with anyio.move_on_after(EXIT_SECONDS):
                await process.wait_for_end()

    async def _receive_line(
        self, line: bytes, received: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        if not line or line.isspace():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            answer = _invalid_answer(line)
            if answer is None:
                self._add_noise(line)
                return
            self._report_line(self._display(line))
            message = answer
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # keep reading to the end
            await received.send(SessionMessage(message))

    def _add_noise(self, line: bytes) -> None:
        text = self._display(_describe_error_answer(line) or line)
        self.noise_count += 1
        if len(self.noise) < MAX_NOISE_LINES:
            self.noise.append(text)
        self._report_line(text)

    def _report_line(self, text: str) -> None:
        if self._handlers.on_noise is not None:
            self._handlers.on_noise(text)

    async def _send(self, process: PipedProcess, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with messages:
            async for message in messages:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                if not process.writable:
                    break
                try:
                    process.write(text.encode() + b"\n")
                    await process.drain()
                except OSError:  # the process has ended; `_receive` sees the end of its stdout
                    break

    def _on_stderr(self, block: bytes) -> None:
        if self._handlers.on_stderr is not None:
            for line in self._stderr_lines.feed(block):
                if line.strip():
                    self._handlers.on_stderr(self._display(line))

    def _display(self, line: bytes) -> str:
        """Return a line as text, shortened, with control characters escaped and secrets masked."""
        text = escape_line(line[: MAX_LINE_CHARACTERS * 4].decode("utf-8", "replace").rstrip())
        text = mask_secrets(text, self._secrets)
        return text if len(text) <= MAX_LINE_CHARACTERS else text[: MAX_LINE_CHARACTERS - 1] + "…"


def _describe_error_answer(line: bytes) -> bytes | None:
    """Return a description of an error without an id, which some servers send after a notification.

    None for any other line.
    """
    message = decode(line)
    try:
        text = message["error"]["message"]
    except (KeyError, TypeError):
        return None
    if message.get("id") is not None:
        return None
    return f"an error without an id ({text}); servers must not answer notifications".encode()


def _invalid_answer(line: bytes) -> JSONRPCError | None:
    """Return an error for the request that an invalid answer belongs to, so that it is not waited for.

    None if the line is not an answer.
    """
    message = decode(line)
    if not isinstance(message, dict) or "method" in message:
        return None
    if not message.keys() & {"jsonrpc", "result", "error"}:  # some other JSON, such as a log record
        return None
    request_id = message.get("id")
    if not is_id(request_id):
        return None
    if message.get("jsonrpc") != "2.0":
        fault = 'it lacks "jsonrpc": "2.0"'
    elif "result" in message:
        fault = "its result is not an object"
    elif "error" in message:
        fault = "its error is not an object with a code and a message"
    else:
        fault = "it has neither a result nor an error"
    error = ErrorData(code=INVALID_ANSWER_CODE, message=fault)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def working_directory(server: ResolvedServer) -> Path:
    """Return the folder in which a server starts."""
    return server.cwd or Path.cwd()
