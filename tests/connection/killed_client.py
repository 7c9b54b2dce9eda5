"""A client for a test that kills it: `python -m tests.connection.killed_client`. Prints "running" when ready.

Its agent starts child processes, and it has a terminal whose command started a daemon.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from acp_tui.processes.reaper import Reaper
from tests.fake_agents.faulty import DAEMON
from tests.support.connection import Client
from tests.support.leftovers import MARK


async def main() -> None:
    """Run until killed."""
    client = Client.of(Path.cwd(), "faulty", "leaves_processes")
    client.launch.env[MARK] = os.environ[MARK]
    await client.open()
    reaper = Reaper()
    daemon = f"{sys.executable} -c '{DAEMON}signal.pause()'"
    terminal = subprocess.Popen(  # noqa: ASYNC220  # blocks only briefly
        ["sh", "-c", f"{daemon}; sleep 3600 & echo; wait"],
        env={**os.environ, **reaper.environment},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    reaper.register(terminal.pid)
    assert terminal.stdout is not None
    terminal.stdout.readline()
    print("running", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
