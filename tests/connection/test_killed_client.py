"""No process survives a client that is killed."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from typing import TYPE_CHECKING

from tests.support.connection import REPOSITORY
from tests.support.leftovers import MARK, processes_with
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


async def test_no_process_survives_a_killed_client(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    client = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.connection.killed_client",
        stdout=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, MARK: mark, "PYTHONPATH": str(REPOSITORY)},
    )
    assert client.stdout is not None
    try:
        assert await client.stdout.readline() == b"running\n"
        # the client, two watchers, the agent, the terminal, and the child processes of both
        await until(lambda: len(processes_with(mark)) == 11)
    finally:
        client.kill()
        await client.wait()
    await until(lambda: not processes_with(mark))
