"""`acp-tui sessions search`: searches all sessions, and prints the best matching lines."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from acp_tui.cli.sessions.listing import DEFAULT_WIDTH
from acp_tui.config.paths import paths
from acp_tui.console.messages import print_message
from acp_tui.console.moments import format_moment
from acp_tui.console.tables import truncate
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import list_sessions, read_session, sessions_directory

if TYPE_CHECKING:
    import argparse

    from acp_tui.session_index.search import SessionHit
    from acp_tui.session_index.updater import Progress
    from acp_tui.store.stored_sessions import StoredSession


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.add_argument(
        "text", nargs="+", metavar="TEXT", help="words, or beginnings of words; all must occur"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Update the index, print the matching lines, and return the exit code: 1 if nothing matches."""
    import asyncio

    from acp_tui.session_index.search import SessionSearch
    from acp_tui.session_index.updater import update_in_background

    asyncio.run(update_in_background(_show_progress))
    _clear_progress()
    list_sessions(paths().data)  # names those that cannot be read, which another process has skipped
    hits = SessionSearch(paths().cache).search(" ".join(args.text))
    if args.json:
        unsent = UnsentWork(paths().state)
        print(json.dumps({"hits": [_as_json(hit, unsent) for hit in hits]}, indent=2))
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
        head = f"{visible_line(session.id)}  {when}  "
        lines.append(f"{head}{truncate(session_title(session, unsent), max(20, width - len(head)))}".rstrip())
        lines += [f"  {truncate(hit.hit.line, width - 2)}" for hit in found]
    return lines


def _as_json(hit: SessionHit, unsent: UnsentWork) -> dict[str, Any]:
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


def _show_progress(progress: Progress) -> None:
    if sys.stderr.isatty() and progress.done < progress.total:
        text = f"Indexing sessions: {progress.done:,} of {progress.total:,}"
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
