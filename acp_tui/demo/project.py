"""What the demo does with the folder it was given.

In a copy of the sample project it repairs the bug and runs the tests. Anywhere else it keeps its hands
off: it touches one clearly named file, and the command it runs only prints.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.demo.sample import is_sample
from acp_tui.demo.sample_files import BUG, CHECKER, FIX, MODULE

if TYPE_CHECKING:
    from pathlib import Path

OWN_FILE = "acp-tui-demo.txt"
"""The only file that the demo writes in a folder that is not a sample project."""

_PRINT = r"""
import sys, time
pause = float(sys.argv[1])
for step in range(1, 21):
    bar = "#" * step + "." * (20 - step)
    print("\r\x1b[36m[" + bar + "]\x1b[0m " + str(step * 5) + "%", end="", flush=True)
    time.sleep(pause)
print()
for code, name in enumerate(("red", "green", "yellow", "blue", "magenta", "cyan"), 31):
    print("\x1b[" + str(code) + "m" + name + "\x1b[0m \x1b[1;" + str(code) + "mbold " + name + "\x1b[0m")
print("\x1b[2mThis command only prints.\x1b[0m")
"""


@dataclass(frozen=True)
class Job:
    """What to read, to change and to run in one folder."""

    sample: bool
    reading: Path | None  # a file to look at first
    target: Path  # the file to change
    command: list[str]

    def changed(self, old: str | None) -> str:
        """The new text of the target."""
        if old is not None and BUG in old:
            return old.replace(BUG, FIX)
        line = "The demo agent of acp-tui wrote this line. You can delete this file.\n"
        return (old or "") + line


def job_in(folder: Path, pause: float) -> Job:
    """Decide by what is there."""
    module = folder / MODULE
    if is_sample(folder):
        # The second tour finds the bug repaired, and then has only its own file to write.
        broken = BUG in module.read_text(encoding="utf-8")
        command = [sys.executable, CHECKER, *(["--pause", f"{pause:.2f}"] if pause else [])]
        return Job(True, module, module if broken else folder / OWN_FILE, command)
    command = [sys.executable, "-c", _PRINT, f"{pause / 3:.3f}"]
    return Job(False, _something_to_read(folder), folder / OWN_FILE, command)


def _something_to_read(folder: Path) -> Path | None:
    for name in ("README.md", "README.rst", "README", "pyproject.toml", "package.json", "Makefile"):
        if (folder / name).is_file():
            return folder / name
    return None
