"""`acp-tui sessions`: lists, searches, shows and prunes recorded sessions."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.commands import run as run_command
from acp_tui.cli.options import add_action, add_json_option, confirm
from acp_tui.cli.recordings import print_recording
from acp_tui.cli.screen_runner import has_usable_terminal
from acp_tui.config import settings as config
from acp_tui.config.paths import paths
from acp_tui.config.validators import InvalidValueError, size
from acp_tui.console import (
    aligned,
    cells,
    format_moment,
    format_size,
    labelled,
    pluralize,
    print_json,
    print_message,
    replace_unencodable,
    truncate,
)
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.store.prune import remove_sessions, select_sessions
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import (
    StoredSession,
    find_session,
    list_sessions,
    read_session,
    sessions_directory,
)

if TYPE_CHECKING:
    from acp_tui.session_list.index_updater import IndexProgress
    from acp_tui.session_list.search import SessionHit


DEFAULT_WIDTH = 80
PROJECT_COLUMNS = 16


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = add_action(actions, "list", "list sessions, most recent first (default if not on a terminal)")
    listing.add_argument("--here", action="store_true", help="only the sessions of the current folder")
    add_json_option(listing)
    add_search_options(add_action(actions, "search", "search everything said and done in all sessions"))
    show = add_action(actions, "show", "show a session's details and conversation")
    path = add_action(actions, "path", "print the path of a session's folder")
    for action in (show, path):
        action.add_argument("id", metavar="ID", help="session id, or a unique prefix")
    show.add_argument("--thoughts", action="store_true", help="include the agent's thoughts")
    add_prune_options(add_action(actions, "prune", "remove the oldest sessions"))


def run(args: argparse.Namespace) -> int:
    replace_unencodable()
    match args.action:
        case "search":
            return search(args)
        case "show":
            session = find_session(paths().data, args.id)
            print("\n".join([*details(session), ""]))
            if session.wire.exists():
                print_recording(session.wire, thoughts=args.thoughts)
        case "path":
            print(find_session(paths().data, args.id).path)
        case "prune":
            return prune(args)
        case None if has_usable_terminal():
            return run_command.run_sessions(run_command.default_arguments())
        case _:
            folder = Path.cwd() if getattr(args, "here", False) else None
            print_sessions(folder, as_json=getattr(args, "json", False))
    return 0


def add_search_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", nargs="+", metavar="TEXT", help="words, or beginnings of words; all must occur"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def search(args: argparse.Namespace) -> int:
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
        print(json.dumps({"hits": [_hit_as_json(hit, unsent) for hit in hits]}, indent=2))
    elif hits:
        print("\n".join(_hit_lines(hits)))
    else:
        print_message("No matches.")
    return 0 if hits else 1


def add_prune_options(parser: argparse.ArgumentParser) -> None:
    about = "keep at most N sessions (log.keep_sessions)"
    parser.add_argument("--keep", type=_count, metavar="N", help=about)
    about = 'limit total size, e.g. "500 MB" (log.keep_bytes)'
    parser.add_argument("--max-size", type=_size, metavar="SIZE", help=about)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def prune(args: argparse.Namespace) -> int:
    """Remove the sessions beyond the limits, and return the exit code.

    Without `--yes`, the user is first asked for confirmation.
    """
    limits = config.load(Path.cwd()).log
    keep = limits.keep_sessions if args.keep is None else args.keep
    max_bytes = limits.keep_bytes if args.max_size is None else args.max_size
    selected = select_sessions(paths().data, paths().state, keep=keep, max_bytes=max_bytes)
    chosen = selected.to_remove
    if unfinished := len(selected.unfinished):
        reason = "a worktree, a draft, queued prompts or review comments"
        print(f"{pluralize(unfinished, 'session').capitalize()} kept because of {reason}.")
    if not chosen:
        print(f"Nothing to remove: the limits are {keep} sessions and {format_size(max_bytes)}.")
        return 0
    unsent = UnsentWork(paths().state)
    for one in chosen:
        title = truncate(session_title(one.session, unsent), 30)
        print(f"{escape_line(one.session.id)}  {format_size(one.size)}  {title}".rstrip())
    question = f"Remove {pluralize(len(chosen), 'session')} permanently?"
    if not args.yes and not confirm(question, done="removed", verb="remove"):
        print("Nothing removed.")
        return 1
    removed = remove_sessions(paths().data, chosen)
    print(f"Removed {pluralize(len(removed), 'session')}, {format_size(sum(one.size for one in removed))}.")
    if kept := len(chosen) - len(removed):
        print(f"{pluralize(kept, 'session').capitalize()} kept: in use, or cannot be removed.")
    return 0


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


def _stored(hit: SessionHit) -> StoredSession:
    return read_session(sessions_directory(paths().data) / hit.folder)


def _hit_lines(hits: list[SessionHit]) -> list[str]:
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


def _hit_as_json(hit: SessionHit, unsent: UnsentWork) -> dict[str, Any]:
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


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of sessions, got {text!r}")
    return int(text)


def _size(text: str) -> int:
    try:
        return size(int(text) if text.isdecimal() else text)
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
