"""Runs a command in a terminal of the client if the client offers terminals, otherwise in a subprocess."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import shlex
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp import RequestError, text_block, tool_content, tool_terminal_ref, update_tool_call
from acp.schema import EnvVariable, TerminalOutputResponse, WaitForTerminalExitResponse

from acp_tui.demo.tools.permission import request_permission
from acp_tui.demo.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp.schema import ToolCallStatus

    from acp_tui.demo.turn import Turn

OUTPUT_BYTE_LIMIT = 64 * 1024
"""A tool call keeps only the end of the output, at most this many bytes. A terminal may show more."""


@dataclass(frozen=True)
class CommandResult:
    """The exit status and the output of a command."""

    exit_code: int | None
    signal: str | None
    output: str

    @property
    def succeeded(self) -> bool:
        """True if the exit code is 0."""
        return self.exit_code == 0

    @property
    def raw(self) -> dict[str, Any]:
        """How the command ended, for the field `rawOutput` of its tool call."""
        return {"exitCode": self.exit_code, "signal": self.signal}


async def run_command(
    turn: Turn, argv: Sequence[str], *, title: str | None = None, env: Mapping[str, str] | None = None
) -> CommandResult | None:
    """Run a command, as a tool call that needs permission. Returns None if there is no result."""
    env = env or {}
    command = shlex.join(argv)
    raw_input: dict[str, Any] = {"command": command, "cwd": str(turn.cwd)}
    if env:
        raw_input["env"] = dict(env)
    call = ToolCall(turn, title or command, "execute", raw_input=raw_input)
    await call.start()
    reason = await request_permission(turn, call.for_permission_request())
    if reason is not None:
        await call.fail(reason)
        return None
    await call.mark_in_progress()
    try:
        in_client = bool(turn.capabilities.terminal)
        result = await (_run_in_client if in_client else _run_in_subprocess)(turn, call, argv, env)
    except (RequestError, OSError, ValueError) as error:
        await call.fail(f"Could not run the command: {error}")
        return None
    # The history stores the output as text, because the terminal no longer exists during a replay.
    status: ToolCallStatus = "completed" if result.succeeded else "failed"
    turn.store_update(call.final_update(status, [tool_content(text_block(result.output))], result.raw))
    await turn.send_update(call.final_update(status, None, result.raw), store=False)
    await turn.pause(15)
    return result


# --------------------------------------------------------------------------- in the client's terminal


async def _run_in_client(
    turn: Turn, call: ToolCall, argv: Sequence[str], env: Mapping[str, str]
) -> CommandResult:
    client, session_id = turn.client, turn.session_id
    terminal = await client.create_terminal(
        session_id,
        command=argv[0],
        args=list(argv[1:]),
        env=[EnvVariable(name=name, value=value) for name, value in env.items()],
        cwd=str(turn.cwd),
        output_byte_limit=OUTPUT_BYTE_LIMIT,
    )
    terminal_id = terminal.terminal_id
    try:
        shown = update_tool_call(call.id, content=[tool_terminal_ref(terminal_id)])
        await turn.send_update(shown, store=False)
        end: WaitForTerminalExitResponse = await client.wait_for_terminal_exit(session_id, terminal_id)
        output: TerminalOutputResponse = await client.terminal_output(session_id, terminal_id)
        return CommandResult(end.exit_code, end.signal, output.output)
    finally:
        # Releasing kills the command if it still runs; the client keeps showing its output. Do not wait for
        # the response: a cancelled turn has to end at once.
        turn.session.run_in_background(_release(turn, terminal_id))


async def _release(turn: Turn, terminal_id: str) -> None:
    with contextlib.suppress(RequestError, ConnectionError):
        await turn.client.release_terminal(turn.session_id, terminal_id)


# --------------------------------------------------------------------------- in a subprocess


async def _run_in_subprocess(
    turn: Turn, call: ToolCall, argv: Sequence[str], env: Mapping[str, str]
) -> CommandResult:
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=turn.cwd,
        env={**os.environ, **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output = await _stream(turn, call, process)
        code = await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())
    name = signal.Signals(-code).name if code < 0 else None
    await _send_terminal_meta(turn, call, "terminal_exit", exit_code=None if name else code, signal=name)
    return CommandResult(None if name else code, name, output)


async def _stream(turn: Turn, call: ToolCall, process: asyncio.subprocess.Process) -> str:
    """Send a process's output to the client as the output arrives, and return the last part of the output.

    Clients that display agent terminals (`_meta.terminal_output`) get only the new output with each update.
    For other clients, each update repeats earlier output, because the new text replaces the previous text.
    """
    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    kept = ""
    await _send_terminal_meta(turn, call, "terminal_info", cwd=str(turn.cwd))
    while True:
        data = await process.stdout.read(OUTPUT_BYTE_LIMIT)
        piece = decoder.decode(data, final=not data)
        kept = (kept + piece)[-OUTPUT_BYTE_LIMIT:]
        if piece and _shows_terminals(turn):
            await _send_terminal_meta(turn, call, "terminal_output", data=piece)
        elif piece:
            await turn.send_update(
                update_tool_call(call.id, content=[tool_content(text_block(kept))]), store=False
            )
        if not data:
            return kept


def _shows_terminals(turn: Turn) -> bool:
    return bool((turn.capabilities.field_meta or {}).get("terminal_output"))


async def _send_terminal_meta(turn: Turn, call: ToolCall, what: str, **facts: Any) -> None:
    if not _shows_terminals(turn):
        return
    update = update_tool_call(call.id)
    if what == "terminal_info":
        update.content = [tool_terminal_ref(call.id)]
    update.field_meta = {what: {"terminal_id": call.id, **facts}}
    await turn.send_update(update, store=False)
