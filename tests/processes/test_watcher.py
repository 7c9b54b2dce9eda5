"""What the watcher reports about the program it started."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

DIES_UNNOTICED = """
import os, signal, sys
from acp_tui.processes.watcher import ChildReaper, Targets, end_all, start

told, control = os.pipe()

class Collect(ChildReaper):
    \"\"\"The program dies right after we looked whether it had.\"\"\"

    def __call__(self):
        super().__call__()
        if not self.ended:
            os.kill(self.program, signal.SIGKILL)
            os.waitid(os.P_PID, self.program, os.WEXITED | os.WNOWAIT)

reap, watched = Collect(control), Targets()
reap.program = start(sys.argv[1], ["sleep", "3600"])
watched.groups.add(reap.program)
end_all(watched, reap)
os.close(control)
sys.stdout.write(os.read(told, 1000).decode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a zombie cannot be told from its group")
def test_how_a_program_ended_is_reported_also_when_only_its_zombie_is_left() -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    done = subprocess.run(
        [sys.executable, "-c", DIES_UNNOTICED, sleep], capture_output=True, text=True, check=True
    )
    assert done.stdout == "signal 9\n"
