"""`acp-tui sessions`: lists, shows and prunes recorded sessions."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.options import add_action
from acp_tui.cli.recordings import print_recording
from acp_tui.config import settings as config
from acp_tui.config.paths import paths
from acp_tui.config.validators import InvalidValueError, size
from acp_tui.console.quantities import format_size, pluralize
from acp_tui.console.streams import replace_unencodable
from acp_tui.console.tables import aligned, cells, labelled, truncate
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line
from acp_tui.store.prune import prune_candidates, remove_sessions
from acp_tui.store.session_labels import format_moment, session_title
from acp_tui.store.stored_sessions import find_session, list_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.store.stored_sessions import StoredSession

DEFAULT_WIDTH = 80
PROJECT_COLUMNS = 16


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_action(actions, "list", "list sessions, most recent first (default)")
    show = add_action(actions, "show", "show a session's details and conversation")
    show.add_argument("id", metavar="ID", help="session id, or a unique prefix")
    show.add_argument("--thoughts", action="store_true", help="include the agent's thoughts")
    path = add_action(actions, "path", "print the folder of a session")
    path.add_argument("id", metavar="ID", help="session id, or a unique prefix")
    prune = add_action(actions, "prune", "remove the oldest sessions")
    prune.add_argument("--keep", type=_count, metavar="N", help="keep at most N sessions (log.keep_sessions)")
    prune.add_argument(
        "--max-size", type=_size, metavar="SIZE", help='limit total size, e.g. "500 MB" (log.keep_bytes)'
    )
    prune.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action and return the exit code."""
    replace_unencodable()
    match args.action:
        case "show":
            session = find_session(paths().data, args.id)
            print("\n".join([*_details(session), ""]))
            if session.wire.exists():
                print_recording(session.wire, thoughts=args.thoughts)
        case "path":
            print(find_session(paths().data, args.id).path)
        case "prune":
            return _prune(args)
        case _:
            _list()
    return 0


# --------------------------------------------------------------------------- list and show


def _list() -> None:
    sessions = list_sessions(paths().data)
    if not sessions:
        print("No recorded sessions.")
        return
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    print("\n".join(_table(sessions, width)))


def _table(sessions: Sequence[StoredSession], width: int) -> list[str]:
    """Return the lines of a table that fits into `width`.

    Titles are truncated. If they would get too short, the agent column is omitted.
    """
    rows = [["ID", "AGENT", "PROJECT", "WHEN", "SIZE"]]
    for session in sessions:
        project = Path(session.text("cwd") or "").name
        agent = session.text("agent_title") or session.text("agent") or "?"
        when, bytes_ = format_moment(session.updated, datetime.now(UTC)), format_size(session.size())
        rows.append([session.id, agent, truncate(project, PROJECT_COLUMNS), when, bytes_])
    left = width - max(map(cells, aligned(rows))) - 2
    if left < PROJECT_COLUMNS:
        for row in rows:
            del row[1]
        left = width - max(map(cells, aligned(rows))) - 2
    titles = [
        "TITLE",
        *(truncate(session_title(session), max(left, PROJECT_COLUMNS // 2)) for session in sessions),
    ]
    return aligned([[*row, title] for row, title in zip(rows, titles, strict=True)])


def _details(session: StoredSession) -> list[str]:
    now = datetime.now(UTC)
    command = session.meta.get("command")
    directories = session.meta.get("directories")
    fields: list[tuple[str, Any]] = [
        ("Session", session.id),
        ("Agent", session.text("agent_title") or session.text("agent")),
        ("Command", shlex.join(map(str, command)) if isinstance(command, list) else None),
        ("Project", session.text("cwd")),
        ("Directories", ", ".join(map(str, directories)) if isinstance(directories, list) else None),
        ("Title", session.text("title")),
        ("Agent's id", session.text("session_id")),
        ("Last used", format_moment(session.updated, now)),
        ("Stop reason", session.text("stop")),
        ("Size", format_size(session.size())),
        ("Folder", str(session.path)),
    ]
    return labelled([(label, text) for label, text in fields if text], commands=("Command", "Folder"))


# --------------------------------------------------------------------------- prune


def _prune(args: argparse.Namespace) -> int:
    limits = config.load(Path.cwd()).log
    keep = limits.keep_sessions if args.keep is None else args.keep
    max_bytes = limits.keep_bytes if args.max_size is None else args.max_size
    chosen = prune_candidates(paths().data, keep=keep, max_bytes=max_bytes)
    if not chosen:
        print(f"Nothing to remove: within the limits of {keep} sessions and {format_size(max_bytes)}.")
        return 0
    for one in chosen:
        title = truncate(session_title(one.session), 30)
        print(f"{visible_line(one.session.id)}  {format_size(one.size)}  {title}".rstrip())
    if not args.yes and not _confirm(len(chosen)):
        print("Nothing removed.")
        return 1
    removed = remove_sessions(paths().data, chosen)
    print(f"Removed {pluralize(len(removed), 'session')}, {format_size(sum(one.size for one in removed))}.")
    if kept := len(chosen) - len(removed):
        print(f"{pluralize(kept, 'session').capitalize()} kept: in use, or cannot be removed.")
    return 0


def _confirm(count: int) -> bool:
    if not sys.stdin.isatty():
        raise UserError(
            "Nothing removed: no terminal to ask for confirmation. Use --yes to skip it.",
            exit_code=2,
        )
    try:
        print(f"Remove {pluralize(count, 'session')} for good? [y/N] ", end="", flush=True)
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of sessions, got {text!r}")
    return int(text)


def _size(text: str) -> int:
    try:
        return size(int(text) if text.isdecimal() else text)
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
