"""Tables of recorded sessions: lists and search results."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths
from acp_tui.console import (
    aligned,
    cells,
    format_moment,
    format_size,
    labelled,
    print_json,
    print_message,
    truncate,
)
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import list_sessions, read_session, sessions_directory

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from acp_tui.session_list.index_updater import IndexProgress
    from acp_tui.session_list.search import SessionHit
    from acp_tui.store.stored_sessions import StoredSession


DEFAULT_WIDTH = 80
PROJECT_COLUMNS = 16


def print_sessions(folder: Path | None = None, *, as_json: bool = False) -> None:
    """Print all sessions in which something was done, or those of one folder, as a table or a JSON object."""
    home, unsent = None if folder is None else os.path.realpath(folder), UnsentWork(paths().state)
    listed = [one for one in list_sessions(paths().data) if home is None or home in one.folders]
    titled = [(one, session_title(one, unsent).strip()) for one in listed]
    sessions = [(one, title) for one, title in titled if title]
    if as_json:
        print_json({"sessions": [_as_json(session, title) for session, title in sessions]})
        return
    if not sessions:
        print(
            "No recorded sessions."
            if home is None
            else f"No recorded sessions in {escape_invisible_line(home)}."
        )
        return
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    print("\n".join(_table(sessions, width)))


def _as_json(session: StoredSession, title: str) -> dict[str, Any]:
    return {
        "id": session.id,
        "title": title,
        "agent": session.text("agent"),
        "folder": session.text("cwd"),
        "project": session.project_folder,
        "updated": session.updated,
        "stopReason": session.text("stop"),
        "agentSessionId": session.text("session_id"),
        "bytes": session.size(),
        "path": str(session.path),
    }


def _table(sessions: Sequence[tuple[StoredSession, str]], width: int) -> list[str]:
    """Return the lines of a table of sessions and titles that fits into `width` columns of the terminal.

    Titles are truncated. If they would get too short, the agent column is omitted.
    """
    rows = [["ID", "AGENT", "PROJECT", "WHEN", "SIZE"]]
    for session, _ in sessions:
        project = Path(session.project_folder).name
        agent = session.text("agent_title") or session.text("agent") or "?"
        when, bytes_ = format_moment(session.updated, datetime.now(UTC)), format_size(session.size())
        rows.append([session.id, agent, truncate(project, PROJECT_COLUMNS), when, bytes_])
    left = width - max(map(cells, aligned(rows))) - 2
    if left < PROJECT_COLUMNS:
        for row in rows:
            del row[1]
        left = width - max(map(cells, aligned(rows))) - 2
    room = max(left, PROJECT_COLUMNS // 2)
    titles = ["TITLE", *(truncate(title, room) for _, title in sessions)]
    return aligned([[*row, title] for row, title in zip(rows, titles, strict=True)])


def details(session: StoredSession) -> list[str]:
    """Return the facts about a session as labelled lines."""
    now = datetime.now(UTC)
    command = session.meta.get("command")
    directories = session.meta.get("directories")
    fields: list[tuple[str, Any]] = [
        ("Session", session.id),
        ("Agent", session.text("agent_title") or session.text("agent")),
        ("Command", shlex.join(map(str, command)) if isinstance(command, list) else None),
        ("Project", session.project_folder),
        ("Worktree", session.text("cwd") if session.project_folder != session.text("cwd") else None),
        ("Directories", ", ".join(map(str, directories)) if isinstance(directories, list) else None),
        ("Title", session.text("title")),
        ("Agent's id", session.text("session_id")),
        ("Last used", format_moment(session.updated, now)),
        ("Stop reason", session.text("stop")),
        ("Size", format_size(session.size())),
        ("Folder", str(session.path)),
    ]
    return labelled([(label, text) for label, text in fields if text], commands=("Command", "Folder"))


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", nargs="+", metavar="TEXT", help="words, or beginnings of words; all must occur"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Update the index, print the matching lines, and return the exit code: 1 if nothing matches."""
    import asyncio

    from acp_tui.session_list.index_updater import update_in_background
    from acp_tui.session_list.search import SessionSearch

    asyncio.run(update_in_background(_show_progress))
    _clear_progress()
    list_sessions(paths().data)  # names those that cannot be read, which another process has skipped
    hits = SessionSearch(paths().cache).search(" ".join(args.text))
    if args.json:
        unsent = UnsentWork(paths().state)
        print(json.dumps({"hits": [_results_as_json(hit, unsent) for hit in hits]}, indent=2))
    elif hits:
        print("\n".join(_lines(hits)))
    else:
        print_message("No matches.")
    return 0 if hits else 1


def _stored(hit: SessionHit) -> StoredSession:
    return read_session(sessions_directory(paths().data) / hit.folder)


def _lines(hits: list[SessionHit]) -> list[str]:
    """Return the lines to print: each session, followed by its hits. Sessions with better hits come first."""
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    unsent = UnsentWork(paths().state)
    by_session: dict[str, list[SessionHit]] = {}
    for hit in hits:
        by_session.setdefault(hit.folder, []).append(hit)
    lines: list[str] = []
    for found in by_session.values():
        session = _stored(found[0])
        when = format_moment(session.updated, datetime.now(UTC))
        head = f"{escape_line(session.id)}  {when}  "
        lines.append(f"{head}{truncate(session_title(session, unsent), max(20, width - len(head)))}".rstrip())
        lines += [f"  {truncate(hit.hit.line, width - 2)}" for hit in found]
    return lines


def _results_as_json(hit: SessionHit, unsent: UnsentWork) -> dict[str, Any]:
    session = _stored(hit)
    return {
        "session": hit.folder,
        "title": session_title(session, unsent),
        "agent": session.text("agent"),
        "folder": session.text("cwd"),
        "updated": session.updated,
        "entry": hit.position,
        "line": hit.hit.line,
        "matches": [list(span) for span in hit.hit.spans],
    }


def _show_progress(progress: IndexProgress) -> None:
    if sys.stderr.isatty() and progress.done < progress.total:
        text = f"Indexing sessions: {progress.done:,} of {progress.total:,}"
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
