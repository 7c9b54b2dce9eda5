"""Finds, reads and prints recorded sessions, for commands such as `replay` and `export`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.console.messages import print_message
from acp_tui.console.streams import replace_unencodable
from acp_tui.errors import UserError
from acp_tui.export.as_text import transcript_lines
from acp_tui.protocol.fold import fold
from acp_tui.store.recording_reader import read_recording
from acp_tui.store.stored_sessions import WIRE, find_session

if TYPE_CHECKING:
    from acp_tui.session.record import Record


def find_recording(reference: str) -> Path:
    """Return the recording file for a session id (or a unique prefix), a session folder or a file."""
    path = Path(os.path.expanduser(reference))  # noqa: PTH111 - leaves an unknown `~user` as it is
    with suppress(OSError):  # such as: the name is too long
        if path.is_dir() and (path / WIRE).exists():
            return path / WIRE
        if path.exists() and not path.is_dir():
            return path
    if os.sep in reference:
        reason = "contains no recorded session" if os.path.isdir(path) else "does not exist"  # noqa: PTH112 - never raises
        raise UserError(f"{path} {reason}.")
    return find_session(paths().data, reference).wire


def read_records(path: Path) -> tuple[list[Record], list[str]]:
    """Return the records of a recording, and its problems: a sentence if some lines cannot be read.

    Raises `UserError` if the file cannot be read, or if it has damaged lines and no records.
    """
    damaged: list[int] = []
    try:
        records = list(read_recording(path, damaged.append))
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
    if not damaged:
        return records, []
    if not records:
        raise UserError(f"{path} is not a session recording.")
    more = f" (and {len(damaged) - 1} more)" if len(damaged) > 1 else ""
    return records, [f"Line {damaged[0]}{more} of {path} could not be read; skipped."]


def print_recording(path: Path, *, thoughts: bool = False) -> None:
    """Print the conversation to stdout, and problems in the recording to stderr."""
    replace_unencodable()
    records, problems = read_records(path)
    for line in transcript_lines(fold(records), thoughts=thoughts):
        print(line)
    for problem in problems:
        print_message(problem)
