"""Runs the process that updates the index, and reports its progress."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.processes.piped_process import PipedProcess, StartError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of the sessions that have to be indexed are done."""

    done: int
    total: int


async def update_in_background(on_progress: Callable[[Progress], None], *, rebuild: bool = False) -> None:
    """Update the index in a process of low priority. Cancelling the task ends it.

    `on_progress` is called about once per second, and at the end. Raises `UserError`.
    """
    command = [sys.executable, "-m", "acp_tui.session_index", *(["--rebuild"] if rebuild else [])]
    try:
        process = await PipedProcess.start(sys.executable, command, cwd="/", env=_environment())
    except StartError as error:
        raise UserError(f"The index of sessions cannot be updated: {error}.") from error
    try:
        process.close_stdin()
        await _read_reports(process, on_progress)
        await process.wait_for_end()
        if process.returncode:
            reason = " ".join(process.stderr_tail(1)) or f"exit code {process.returncode}"
            raise UserError(f"The index of sessions could not be updated: {reason}")
    finally:
        await process.end(grace_seconds=0)


async def _read_reports(process: PipedProcess, on_progress: Callable[[Progress], None]) -> None:
    rest = b""
    while block := await process.read():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            match json.loads(line):
                case {"done": int() as done, "total": int() as total}:
                    on_progress(Progress(done, total))
                case {"error": str() as sentence}:
                    raise UserError(sentence)


def _environment() -> dict[str, str]:
    # The process must find the package where this one found it, also in a checkout that is not installed.
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
