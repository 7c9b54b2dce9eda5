"""Finds, reads and prints recorded sessions, for commands such as `replay` and `exec --continue`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.agent_catalogue import launch_from_command
from acp_tui.config.mcp_sources import DEMO_AGENT
from acp_tui.config.own_files import MAX_RECORDING_BYTES, open_own
from acp_tui.config.paths import paths
from acp_tui.console import print_message, replace_unencodable
from acp_tui.entry_kinds.kind import TextContext
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.entry_kinds.plain_text import indented
from acp_tui.errors import UserError, os_errors_reported
from acp_tui.protocol.translator import fold
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.record import Direction, Record
from acp_tui.session.safe_text import escape_controls
from acp_tui.store.redaction import redact_value
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import WIRE, StoredSession, find_session, list_sessions
from acp_tui.store.wire_log import MAX_LINE_BYTES, read_log

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session


RECORDING_HELP = "session id (or a unique prefix), session folder, or recording file"
"""The help of an argument for `find_recording`."""
_DIRECTIONS: dict[str, Direction] = {"c2a": "sent", "a2c": "received"}


def transcript_lines(session: Session, *, thoughts: bool = False) -> Iterator[str]:
    """Yield the lines of the transcript, safe for a terminal.

    Thoughts are shown as a line count unless `thoughts` is true.
    """
    context = TextContext(session, session.cwd or "", thoughts)
    for entry in session.entries:
        try:
            lines = list(kind_of(entry).lines(entry, context))
        except Exception as error:  # a fault in one entry must not lose the others
            lines = [failure_note(entry, error), *indented(raw_text(entry).split("\n"))]
        if lines:
            # Make every line safe here, including the ones that come from `raw_*` fields.
            for line in [*_marks(entry), *lines, ""]:
                first, *others = escape_controls(line).split("\n")
                yield first
                yield from indented(others)  # so that a newline in a name cannot forge an entry


def _marks(entry: Entry) -> Iterator[str]:
    if entry.withdrawn:
        yield "~ no longer in the agent's context:"
    if entry.stray:
        yield "~ arrived outside a turn, or after the turn was stopped:"


def read_recording(path: Path, on_damaged_line: Callable[[int], None] | None = None) -> Iterator[Record]:
    """Yield the records of a file in acp-tui's format or in the format of other tools.

    `on_damaged_line` is called with the number of each line that cannot be read, except an incomplete last
    line, which is normal after a crash.
    """
    return _read_foreign(path, on_damaged_line) if _is_foreign(path) else read_log(path, on_damaged_line)


def _is_foreign(path: Path) -> bool:
    with open(open_own(path, os.O_RDONLY, MAX_RECORDING_BYTES), "rb") as file:
        try:
            first = json.loads(file.readline(MAX_LINE_BYTES))
        except (ValueError, RecursionError):
            return False
    return isinstance(first, dict) and "dir" in first and "frame" not in first


def _read_foreign(path: Path, on_damaged_line: Callable[[int], None] | None) -> Iterator[Record]:
    with open(open_own(path, os.O_RDONLY, MAX_RECORDING_BYTES), "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                match json.loads(line):
                    case {"t": int() | float() as at, "dir": "c2a" | "a2c" as direction, "msg": frame}:
                        yield Record(at, _DIRECTIONS[direction], frame)
            except (ValueError, RecursionError):
                if on_damaged_line is not None and line.endswith(b"\n") and not line.isspace():
                    on_damaged_line(number)


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
    with os_errors_reported(f"Cannot read {path}"):
        records = list(read_recording(path, damaged.append))
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


def latest_session(folder: Path | None, agent: str | None, program: str | None) -> str:
    """Return the id of the latest session that can be reopened. Raises `UserError` if there is none.

    Sessions in use, sessions in which nothing was done, sessions whose worktree was merged or discarded, and
    what `acp-tui tap` has recorded are skipped.

    Args:
        folder: The folder of the session. None: the current directory or, for the demo agent, any folder.
        agent: The name of the session's agent; None for any agent. Ignored if `program` is given.
        program: The command line with which the session's agent was started; None for any command line.
    """
    # Without --cwd, each session of the demo has a sample project of its own.
    home = None if agent == DEMO_AGENT and folder is None else os.path.realpath(folder or Path.cwd())
    unsent = UnsentWork(paths().state)
    in_use: str | None = None
    finished: str | None = None
    for session in list_sessions(paths().data):
        if session.fault:
            continue
        if _is_of(session, home, agent, program) and session_title(session, unsent).strip():
            if session.is_worktree_finished:
                finished = finished or session.id
            elif not session.in_use() or session.is_closing():
                return session.id
            else:
                in_use = in_use or session.id
    if in_use is not None:
        raise UserError(f"The session {in_use} is open in another acp-tui.")
    if finished is not None:
        raise UserError(
            f"The worktree of the session {finished} was merged or discarded."
            f" `acp-tui --resume {finished}` opens the session in a new worktree."
        )
    of_whom = f" of {agent or program}" if agent or program else ""
    where = f" in {home}" if home is not None else ""
    raise UserError(
        f"No session{of_whom} with a prompt has been recorded{where}. `acp-tui sessions` lists all sessions."
    )


def _is_of(session: StoredSession, home: str | None, agent: str | None, program: str | None) -> bool:
    folders = session.folders
    if session.is_tap or not folders or (home is not None and home not in folders):
        return False
    if program is not None:
        return bool(session.meta.get("command") == redact_value(launch_from_command(program).command))
    return agent is None or session.text("agent") == agent
