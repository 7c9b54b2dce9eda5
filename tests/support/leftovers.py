"""Finds processes that a test left behind, by a mark in their environment or by what they are called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = "ACP_TUI_TEST_MARK"


def processes_with(text: str) -> list[int]:
    """Living processes that have the text in their environment or command line, but for this one."""
    found = _from_proc(text.encode()) if Path("/proc/self/environ").exists() else _from_ps(text)
    return sorted(set(found) - {os.getpid()})


def _from_proc(text: bytes) -> Iterable[int]:
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                told = directory.joinpath("environ").read_bytes() + directory.joinpath("cmdline").read_bytes()
            except OSError:
                continue  # gone meanwhile, a zombie or somebody else's
            if text in told:
                yield int(directory.name)


def _from_ps(text: str) -> Iterable[int]:
    listing = subprocess.run(
        ["ps", "axEww", "-o", "pid=,command="], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        if text in line:
            yield int(line.split()[0])


def parent(pid: int) -> int:
    """The process that started this one; 0 when it is gone."""
    listing = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=False)
    return int(listing.stdout or 0)
