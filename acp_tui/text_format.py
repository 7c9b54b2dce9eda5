"""Durations, times and paths as text for users."""

from __future__ import annotations

import os
import time
from pathlib import PurePath

from acp_tui.session.safe_text import escape_invisible_line

MIN_SECONDS = 0.1
"""Durations of up to this many seconds are not shown."""


def format_duration(seconds: float) -> str:
    """Format a duration: `0.8 s`, `42 s`, `3:07`, `1:02:03`."""
    if seconds < 9.95 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    minutes, left = divmod(total, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def format_time(at: float, now: float) -> str:
    """Format `at`, in seconds since the epoch, as local time: "09:05" if today, otherwise "2026-11-22"."""
    when = time.localtime(at)
    today = when[:3] == time.localtime(now)[:3]
    return time.strftime("%H:%M" if today else "%Y-%m-%d", when)


def folder_label(path: str) -> str:
    """Return a folder's short name: the last part of its path, or `/` (root) or `~` (home directory)."""
    if path == os.path.expanduser("~"):  # noqa: PTH111  # Path.home() raises where there is none
        return "~"
    return escape_invisible_line(PurePath(path).name or path)


def display_path(path: str) -> str:
    """Return a path made safe to display, with `~` in place of the home directory."""
    home = os.path.expanduser("~")  # noqa: PTH111  # as in `folder_label`
    is_below = path == home or path.startswith(f"{home}/")
    return escape_invisible_line(f"~{path[len(home) :]}" if is_below else path)


def relative_path(path: str | None, cwd: str) -> str:
    """Return the path relative to the session's directory `cwd`; unchanged if the path is not below `cwd`."""
    path = path or ""
    base = f"{cwd.rstrip('/')}/"
    return path[len(base) :] if cwd and path.startswith(base) and len(path) > len(base) else path
