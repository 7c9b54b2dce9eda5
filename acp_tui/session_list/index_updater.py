"""Runs the process that updates the index, and reports progress."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from acp_tui.errors import UserError
from acp_tui.processes.piped_process import PipedProcess, StartError


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How many sessions have been indexed so far, of all that need indexing."""

    done: int = 0
    total: int = 0
    waiting: bool = False  # another process updates the index; its progress is unknown


async def update_in_background(
    on_progress: Callable[[IndexProgress], None], *, rebuild: bool = False
) -> None:
    """Update the index in a process of low priority, and wait until the process ends.

    If the wait is cancelled, the process is ended. `on_progress` is called about once per second, and at the
    end; twice per second while another process updates the index. Raises `UserError` if the update fails.
    """
    command = [
        sys.executable,
        "-m",
        "acp_tui.session_list.index_process",
        *(["--rebuild"] if rebuild else []),
    ]
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


class IndexUpdater:
    """Starts updates of the index, one at a time."""

    def __init__(
        self, on_progress: Callable[[IndexProgress], None], on_failed: Callable[[str], None]
    ) -> None:
        """`on_failed` is called with a sentence that says why the index cannot be updated."""
        self._on_progress = on_progress
        self._on_failed = on_failed
        self._running: asyncio.Task[None] | None = None
        self._rebuilds = False  # whether the running process rebuilds the index
        self._again = False  # whether to start another process when the running one has ended
        self._again_rebuilds = False  # whether that other process is to rebuild the index

    def start(self, *, rebuild: bool = False) -> None:
        """Start an update or a rebuild of the index.

        If a process already updates or rebuilds the index, the new process starts when the running process
        has ended. A rebuild is ignored while another rebuild is running.
        """
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._update(rebuild=rebuild))
        elif not (rebuild and self._rebuilds):
            self._again = True
            self._again_rebuilds = self._again_rebuilds or rebuild

    async def close(self) -> None:
        """Stop the running update, if any, and wait until its process has ended."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _update(self, *, rebuild: bool) -> None:
        self._rebuilds, self._again, self._again_rebuilds = rebuild, False, False
        try:
            await update_in_background(self._on_progress, rebuild=rebuild)
        except UserError as error:
            self._on_failed(str(error))
        if self._again:
            await self._update(rebuild=self._again_rebuilds)


async def _read_reports(process: PipedProcess, on_progress: Callable[[IndexProgress], None]) -> None:
    rest = b""
    while block := await process.read():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            match json.loads(line):
                case {"done": int() as done, "total": int() as total}:
                    on_progress(IndexProgress(done, total))
                case {"waiting": True}:
                    on_progress(IndexProgress(waiting=True))
                case {"error": str() as sentence}:
                    raise UserError(sentence)


def _environment() -> dict[str, str]:
    # The process must find the package where this one found it, also in a checkout that is not installed.
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
