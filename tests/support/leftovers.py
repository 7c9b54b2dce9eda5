"""Finds processes that a test left running, by a mark in their environment or command line."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = "TEST_MARK_OF_ACP_TUI"


def processes_with(text: str) -> list[int]:
    """Return the other running processes with this text in their environment or command line."""
    found = _from_proc(text.encode()) if Path("/proc/self/environ").exists() else _from_ps(text)
    return sorted(set(found) - {os.getpid()})


def _from_proc(text: bytes) -> Iterable[int]:
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                content = (
                    directory.joinpath("environ").read_bytes() + directory.joinpath("cmdline").read_bytes()
                )
            except OSError:
                continue  # it has ended, or is a zombie or another user's
            if text in content:
                yield int(directory.name)


def _from_ps(text: str) -> Iterable[int]:
    listing = subprocess.run(
        ["ps", "axEww", "-o", "pid=,command="], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        if text in line:
            yield int(line.split()[0])


def parent(pid: int) -> int:
    """Return the parent process id; 0 if the process has ended."""
    listing = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=False)
    return int(listing.stdout or 0)
