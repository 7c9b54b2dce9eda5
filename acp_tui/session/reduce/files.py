"""Files that the agent reads and writes through acp-tui.

Most agents also announce a tool call that shows the file. A read or write without such a tool call gets
an entry, so that it appears in the transcript, in the Files pane and in exports. Successive reads share one.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.session.record import NOT_ALLOWED, RESOURCE_NOT_FOUND, Change
from acp_tui.session.reduce.entries import add_entry, add_notice, out_of_phase, touch
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Diff, FileBefore, Location, Session, ToolCall

if TYPE_CHECKING:
    from acp_tui.session import events as ev

MAX_RECENT_ENTRIES = 50
"""The maximum number of recent entries to search for a tool call that already shows a file."""


def file_before_write(session: Session, event: ev.FileBeforeWrite, _at: float) -> list[Change]:
    """Store the content that a file had before the agent wrote it, to show the change as a diff."""
    session.reducer_state.before_write[event.request_id] = FileBefore(event.old, event.known, event.line_ends)
    return []


def file_served(session: Session, event: ev.FileServed, at: float) -> list[Change]:
    """Show that the agent has read or written a file, or that the request failed.

    A request that the user, a rule or the policy rejected is not shown here, because `requests.decided` has
    added a notice already. An attempt to read a missing file is not shown, either.
    """
    before = session.reducer_state.before_write.pop(event.request_id, None)
    is_reported = event.request_id in session.reducer_state.rejected
    session.reducer_state.rejected.discard(event.request_id)
    if event.error is None:
        return _add_write(session, event, before, at) if event.wrote else _add_read(session, event, at)
    if event.error.code == RESOURCE_NOT_FOUND and not event.wrote:
        return []  # agents often try files that may not exist
    if is_reported and event.error.code == NOT_ALLOWED:
        return []
    verb = "write" if event.wrote else "read"
    text = f"Could not {verb} {event.path}: {escape_line(event.error.message)}"
    return add_notice(session, at, text, level="warning", detail=event.error.detail)


def _add_read(session: Session, event: ev.FileServed, at: float) -> list[Change]:
    if next(_calls_about(session, event.path), None) is not None:
        return []
    location = Location(event.path, event.line)
    last = session.entries[-1] if session.entries else None
    if not (isinstance(last, ToolCall) and last.served and last.kind == "read" and last.turn == session.turn):
        return _add_call(session, "read", location, at)
    others = [known for known in last.locations if known.path != location.path]
    last.locations = [*others, location]
    last.title = f"Read {len(last.locations):,} files" if others else last.title
    last.ended_at = at
    return [touch(last)]


def _add_write(session: Session, event: ev.FileServed, before: FileBefore | None, at: float) -> list[Change]:
    diff = None
    if before is not None and before.known and (before.line_ends or before.old != event.content):
        ends = (before.line_ends[0], before.line_ends[1]) if len(before.line_ends) == 2 else None
        diff = Diff(event.path, before.old, event.content, line_ends=ends)
    for call in _calls_about(session, event.path):
        shown = [
            part for part in call.content if isinstance(part, Diff) and _is_file_of(session, part.path, event)
        ]
        key = (call.id, event.path)
        if any(_shows(part, event.content) for part in shown) and key not in session.reducer_state.written:
            session.reducer_state.written.add(key)  # a second write of the file is shown as another call
            return []
        if diff is not None and not shown and not call.done and call.kind == "edit":
            session.reducer_state.written.add(key)
            call.content = [*call.content, diff]
            return [touch(call)]
    return _add_call(session, "edit", Location(event.path), at, diff)


def _add_call(
    session: Session, kind: str, location: Location, at: float, diff: Diff | None = None
) -> list[Change]:
    path = location.path
    shown = path.removeprefix(f"{session.cwd}/") if session.cwd else path
    call = ToolCall(
        id=0,
        at=at,
        call_id=f"acp-tui:file-{len(session.entries)}",
        title=f"{'Read' if kind == 'read' else 'Write'} {shown}",
        kind=kind,
        kind_given=True,
        status="completed",
        content=[] if diff is None else [diff],
        locations=[location],
        announced=True,
        served=True,
        ended_at=at,
        stray=out_of_phase(session),
    )
    return add_entry(session, call, at)


def _calls_about(session: Session, path: str) -> Iterator[ToolCall]:
    """Yield this turn's tool calls that mention a path: first unfinished calls, then other recent calls."""
    wanted = _absolute(session, path)
    seen: set[int] = set()
    recent = islice(reversed(session.entries), MAX_RECENT_ENTRIES)
    for call in (*session.reducer_state.open_calls.values(), *recent):
        if not isinstance(call, ToolCall) or call.served or call.turn != session.turn or call.id in seen:
            continue
        seen.add(call.id)
        if any(_absolute(session, named) == wanted for named in _possible_paths(call)):
            yield call


def _possible_paths(call: ToolCall) -> Iterator[str]:
    yield from (location.path for location in call.locations)
    yield from (part.path for part in call.content if isinstance(part, Diff))
    if isinstance(call.raw_input, dict):
        yield from (value for value in call.raw_input.values() if isinstance(value, str))


def _is_file_of(session: Session, path: str, event: ev.FileServed) -> bool:
    return _absolute(session, path) == _absolute(session, event.path)


def _absolute(session: Session, path: str) -> str:
    return posixpath.normpath(posixpath.join(session.cwd or "/", path))


def _shows(diff: Diff, content: str) -> bool:
    """Return True if the diff may show the change made by writing `content`.

    The diff's new text may be a part of the content: many diffs contain only the replaced words.
    """
    return diff.patch is not None or (diff.new or "") in content
