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

COLOUR_DEMO = [sys.executable, "-P", "-m", "acp_tui.demo.colours"]
"""A command that only prints. `-P`: nothing is imported from the folder it runs in."""


@dataclass(frozen=True)
class Job:
    """What to read, to change and to run in one folder."""

    sample: bool
    file_to_read: Path | None  # a file to look at first
    target: Path  # the file to change
    command: list[str]

    @property
    def fixes_bug(self) -> bool:
        """True when the edit is the repair of the bug."""
        return self.target == self.file_to_read

    def changed(self, old: str | None) -> str:
        """The new text of the target."""
        if old is not None and BUG in old:
            return old.replace(BUG, FIX)
        line = "The demo agent of acp-tui wrote this line. You can delete this file.\n"
        return (old or "") + line


def plan_job(folder: Path, pause: float) -> Job:
    """Decide by what is there."""
    module = folder / MODULE
    slowly = ["--pause", f"{pause:.2f}"] if pause else []
    if is_sample(folder):
        # The second tour finds the bug repaired, and then has only its own file to write.
        broken = BUG in module.read_text(encoding="utf-8")
        command = [sys.executable, CHECKER, *slowly]
        return Job(True, module, module if broken else folder / OWN_FILE, command)
    return Job(False, _something_to_read(folder), folder / OWN_FILE, [*COLOUR_DEMO, *slowly])


def _something_to_read(folder: Path) -> Path | None:
    for name in ("README.md", "README.rst", "README", "pyproject.toml", "package.json", "Makefile"):
        if (folder / name).is_file():
            return folder / name
    return None
