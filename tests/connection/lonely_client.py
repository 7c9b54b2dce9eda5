"""A client to be killed: `python -m tests.connection.lonely_client`. Prints one line when all is running.

It talks to an agent that leaves processes behind, and has a terminal whose command left a daemon behind.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from acp_tui.processes import Reaper
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
    terminal = subprocess.Popen(  # noqa: ASYNC220  # as short as it is
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
