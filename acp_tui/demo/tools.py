"""The demo's actions that clients see as tool calls: reading and editing files, and running commands."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import itertools
import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp import RequestError, schema, tool_diff_content, tool_terminal_ref, update_tool_call

from acp_tui.demo.turn import ToolCall, Turn, text_content

# ------------------------------------------------------------------ files
#
# The client can have unsaved changes or restrict access, so its file methods take precedence. If the client
# refuses a request, the demo does not fall back to accessing the file directly.


async def read_file(
    turn: Turn, path: Path, *, line: int | None = None, limit: int | None = None
) -> str | None:
    """Read a file or part of it, as a tool call. Returns None if the file cannot be read."""
    part = {key: value for key, value in (("line", line), ("limit", limit)) if value is not None}
    raw_input = {"path": str(path), **part}
    call = ToolCall(turn, f"Read {path.name}", "read", path=path, line=line or 1, raw_input=raw_input)
    await call.start("in_progress")
    try:
        text = await _read_text(turn, path, line, limit)
    except (RequestError, OSError, ValueError) as error:
        await call.fail(f"Could not read the file: {_describe(error)}")
        return None
    await call.complete(content=[text_content(f"````\n{text.rstrip()}\n````")])
    return text


async def edit_file(turn: Turn, path: Path, old: str | None, new: str) -> bool:
    """Write a file, as a tool call with a diff and a permission request.

    Returns True if the file was written.
    """
    call = ToolCall(
        turn,
        f"{'Create' if old is None else 'Edit'} {path.name}",
        "edit",
        path=path,
        line=_first_difference(old or "", new),
        raw_input={"path": str(path), "content": new},
        content=[tool_diff_content(str(path), new, old)],
    )
    if not await call.start_if_allowed():
        return False
    try:
        await _write_text(turn, path, new)
    except (RequestError, OSError, ValueError) as error:
        await call.fail(f"Could not write the file: {_describe(error)}")
        return False
    await call.complete()
    return True


async def _read_text(turn: Turn, path: Path, line: int | None, limit: int | None) -> str:
    fs = turn.capabilities.fs
    if fs and fs.read_text_file:
        answer = await turn.client.read_text_file(turn.session_id, str(path), line=line, limit=limit)
        return answer.content
    _check_folder(turn, path)
    with path.open(encoding="utf-8", newline="") as file:
        first = (line or 1) - 1
        return "".join(itertools.islice(file, first, None if limit is None else first + limit))


async def _write_text(turn: Turn, path: Path, text: str) -> None:
    fs = turn.capabilities.fs
    if fs and fs.write_text_file:
        await turn.client.write_text_file(turn.session_id, str(path), text)
        return
    _check_folder(turn, path)
    path.write_text(text, encoding="utf-8", newline="")


def _check_folder(turn: Turn, path: Path) -> None:
    """Raise `ValueError` if the path is outside the session's folders."""
    folders = [turn.cwd, *map(type(path), turn.stored.directories)]
    if not any(path.resolve().is_relative_to(folder.resolve()) for folder in folders):
        raise ValueError("it is outside the folders of this session")


def _describe(error: Exception) -> str:
    if isinstance(error, RequestError):
        return f"the client answered {error.code}, {error}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _first_difference(old: str, new: str) -> int:
    """Return the 1-based number of the first old line that differs, or else of the last old line."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    return next(
        (number for number, (one, other) in enumerate(pairs, 1) if one != other), len(old.splitlines()) or 1
    )


# ------------------------------------------------------------------ commands

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
        return self.exit_code == 0


async def run_command(
    turn: Turn, argv: Sequence[str], *, title: str, env: Mapping[str, str] | None = None
) -> CommandResult | None:
    """Run a command, as a tool call that needs permission. Returns None if there is no result.

    The command runs in a terminal of the client if the client offers terminals, otherwise in a subprocess.
    """
    env = dict(env or {})
    raw_input = {"command": shlex.join(argv), "cwd": str(turn.cwd)} | ({"env": env} if env else {})
    call = ToolCall(turn, title, "execute", raw_input=raw_input)
    if not await call.start_if_allowed():
        return None
    run = _run_in_client if turn.capabilities.terminal else _run_in_subprocess
    try:
        result = await run(turn, call, argv, env)
    except (RequestError, OSError, ValueError) as error:
        await call.fail(f"Could not run the command: {error}")
        return None
    end = update_tool_call(
        call.id,
        status="completed" if result.succeeded else "failed",
        raw_output={"exitCode": result.exit_code, "signal": result.signal},
    )
    # The history stores the output as text, because the terminal no longer exists during a replay.
    turn.store_update(end.model_copy(update={"content": [text_content(result.output)]}))
    await turn.send_update(end, store=False)
    await turn.pause(15)
    return result


async def _run_in_client(
    turn: Turn, call: ToolCall, argv: Sequence[str], env: Mapping[str, str]
) -> CommandResult:
    client, session_id = turn.client, turn.session_id
    terminal = await client.create_terminal(
        session_id,
        command=argv[0],
        args=list(argv[1:]),
        env=[schema.EnvVariable(name=name, value=value) for name, value in env.items()],
        cwd=str(turn.cwd),
        output_byte_limit=OUTPUT_BYTE_LIMIT,
    )
    terminal_id = terminal.terminal_id
    try:
        shown = update_tool_call(call.id, content=[tool_terminal_ref(terminal_id)])
        await turn.send_update(shown, store=False)
        end = await client.wait_for_terminal_exit(session_id, terminal_id)
        output = await client.terminal_output(session_id, terminal_id)
        return CommandResult(end.exit_code, end.signal, output.output)
    finally:
        # Releasing kills the command if it still runs; the client keeps showing its output. Do not wait for
        # the response: a cancelled turn has to end at once.
        turn.session.run_in_background(_release(turn, terminal_id))


async def _release(turn: Turn, terminal_id: str) -> None:
    with contextlib.suppress(RequestError, ConnectionError):
        await turn.client.release_terminal(turn.session_id, terminal_id)


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
    result = CommandResult(code, None, output)
    if code < 0:
        result = CommandResult(None, signal.Signals(-code).name, output)
    await _send_terminal_meta(turn, call, "terminal_exit", exit_code=result.exit_code, signal=result.signal)
    return result


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
            await turn.send_update(update_tool_call(call.id, content=[text_content(kept)]), store=False)
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
