"""Chooses what the demo does in the session's folder.

In a copy of the sample project, the demo fixes the bug and runs the tests. If the bug is already fixed, the
demo writes `acp-tui-demo.txt` instead. In any other folder, the demo writes only `acp-tui-demo.txt`, and runs
a command that only prints coloured text.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.demo.project.sample_files import BUG, CHECKER, FIX, MODULE
from acp_tui.demo.project.sample_project import is_sample

if TYPE_CHECKING:
    from pathlib import Path

OWN_FILE = "acp-tui-demo.txt"
"""The only file the demo writes outside the sample project."""

COLOUR_COMMAND = [sys.executable, "-P", "-m", "acp_tui.demo.project.colour_demo"]
"""A command that only prints coloured text.

`-P` keeps Python from importing modules of the folder in which the command runs.
"""


@dataclass(frozen=True)
class Job:
    """What to read, edit and run in one folder."""

    is_sample: bool  # the folder is a copy of the sample project
    file_to_read: Path | None  # None: nothing to read
    target: Path  # the file to edit
    command: list[str]

    @property
    def fixes_bug(self) -> bool:
        """True if the edit fixes the bug."""
        return self.target == self.file_to_read

    def edited_text(self, old: str | None) -> str:
        """Return the target's new text. `old` is the current text; None if the target does not exist."""
        if old is not None and BUG in old:
            return old.replace(BUG, FIX)
        line = "The demo agent of acp-tui wrote this line. You can delete this file.\n"
        return (old or "") + line


def choose_job(folder: Path, pause: float) -> Job:
    """Choose the job for a folder. The job's command waits `pause` seconds after each step."""
    module = folder / MODULE
    slowly = ["--pause", f"{pause:.2f}"] if pause else []
    if is_sample(folder):
        # If an earlier tour fixed the bug, write the demo's own file instead.
        broken = BUG in module.read_text(encoding="utf-8")
        command = [sys.executable, CHECKER, *slowly]
        return Job(True, module, module if broken else folder / OWN_FILE, command)
    return Job(False, _find_overview_file(folder), folder / OWN_FILE, [*COLOUR_COMMAND, *slowly])


def _find_overview_file(folder: Path) -> Path | None:
    for name in ("README.md", "README.rst", "README", "pyproject.toml", "package.json", "Makefile"):
        if (folder / name).is_file():
            return folder / name
    return None
