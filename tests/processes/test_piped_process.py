"""Programs that talk over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

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


async def test_a_reader_that_comes_late_finds_the_end_of_the_output(tmp_path: Path) -> None:
    process = await PipedProcess.start("/bin/cat", ["cat"], cwd=str(tmp_path), env=os.environ)
    pipe = os.open(f"/proc/{process.pid}/fd/1", os.O_WRONLY)  # so that the output does not end by itself
    try:
        ending = asyncio.create_task(process.end())
        await until(lambda: process.ended and process._watcher.returncode is not None)
        assert await process.read() == b""
    finally:
        os.close(pipe)
    await ending


@pytest.mark.parametrize("steps", range(1, 8))
async def test_nothing_stays_open_if_the_end_is_cancelled(tmp_path: Path, steps: int) -> None:
    open_before = sorted(Path("/dev/fd").iterdir())
    process = await PipedProcess.start(
        sys.executable, [sys.executable, "-c", "print(1)"], cwd=str(tmp_path), env=os.environ
    )
    while await process.read():
        pass
    await process.wait_for_end()
    ending = asyncio.create_task(process.end())
    for _ in range(steps):
        await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait([ending])
    assert process._watcher.returncode is not None  # the event loop may be closed now
    await until(lambda: sorted(Path("/dev/fd").iterdir()) == open_before)


async def test_a_program_is_killed_if_its_end_is_cancelled(tmp_path: Path) -> None:
    process = await PipedProcess.start("/bin/sleep", ["sleep", "600"], cwd=str(tmp_path), env=os.environ)
    ending = asyncio.create_task(process.end(grace_seconds=600))
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait([ending])
    assert process._watcher.returncode is not None
    await until(lambda: process.ended)
    assert not process.watcher_lost
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
