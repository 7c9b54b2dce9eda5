"""Programs that talk over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from acp_tui.processes.piped_process import READ_BYTES, PipedProcess
from tests.support.waiting import until


async def test_a_program_that_floods_stdout_is_ended_although_nobody_reads(tmp_path: Path) -> None:
    flood = "import os\nwhile True: os.write(1, b'x' * 65536)"
    process = await PipedProcess.start(
        sys.executable, [sys.executable, "-c", flood], cwd=str(tmp_path), env=os.environ
    )
    stdout = process._watcher.stdout
    assert stdout is not None
    await until(lambda: len(stdout._buffer) > 8 * READ_BYTES)  # type: ignore[attr-defined]
    async with asyncio.timeout(30):
        await process.end(grace_seconds=0)
    assert process.ended


async def test_ending_a_program_closes_its_pipes_although_nobody_has_read_its_output(tmp_path: Path) -> None:
    open_before = sorted(Path("/dev/fd").iterdir())
    much = f"import os\nos.write(1, b'x' * {8 * READ_BYTES + 1000})"
    process = await PipedProcess.start(
        sys.executable, [sys.executable, "-c", much], cwd=str(tmp_path), env=os.environ
    )
    await until(lambda: process._watcher.returncode is not None)
    await process.end()
    await until(lambda: sorted(Path("/dev/fd").iterdir()) == open_before)
