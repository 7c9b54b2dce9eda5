"""The watcher's reports about the program it started."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

DIES_AFTER_CHECK = """
import os, signal, sys
from acp_tui.processes.watcher import ChildReaper, Targets, end_all, start

reports, control = os.pipe()

class LateReaper(ChildReaper):
    \"\"\"Kills the program right after each check for ended children.\"\"\"

    def reap(self):
        super().reap()
        if not self.ended:
            os.kill(self.program, signal.SIGKILL)
            os.waitid(os.P_PID, self.program, os.WEXITED | os.WNOWAIT)

children, targets = LateReaper(control), Targets()
children.program = start(sys.argv[1], ["sleep", "3600"])
targets.groups.add(children.program)
end_all(targets, children)
os.close(control)
sys.stdout.write(os.read(reports, 1000).decode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to recognize a zombie")
def test_exit_status_is_reported_when_only_a_zombie_is_left() -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    done = subprocess.run(
        [sys.executable, "-c", DIES_AFTER_CHECK, sleep], capture_output=True, text=True, check=True
    )
    assert done.stdout == "signal 9\n"
