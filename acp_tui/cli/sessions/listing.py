"""`acp-tui sessions list` and `show`: the table of sessions, and the details of one."""

from __future__ import annotations

import os
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths
from acp_tui.console.moments import format_moment
from acp_tui.console.quantities import format_size
from acp_tui.console.streams import print_json
from acp_tui.console.tables import aligned, cells, labelled, truncate
from acp_tui.session.text.invisible import reveal_line
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        print("No recorded sessions." if home is None else f"No recorded sessions in {reveal_line(home)}.")
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
