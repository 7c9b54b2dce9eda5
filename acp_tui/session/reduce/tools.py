"""Tool calls: an announcement and its updates become one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.colours import without_colours
from acp_tui.session.reduce.entries import add, out_of_phase, touch
from acp_tui.session.state import Content, Diff, TerminalRef, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.change import Change
    from acp_tui.session.events import ToolCallChanged
    from acp_tui.session.state import Session, ToolContent

_UNFINISHED = ("pending", "in_progress")
_ENDED = ("completed", "failed")


def tool_call_changed(session: Session, event: ToolCallChanged, at: float) -> list[Change]:
    """A patch: what it does not name stays. An id we do not know makes a call."""
    call = session.tool_calls.get(event.call_id)
    if call is None or _is_another(session, call, event):
        call = ToolCall(id=0, at=at, call_id=event.call_id, stray=out_of_phase(session))
        session.tool_calls[event.call_id] = call
        session.books.open_calls[event.call_id] = call
        changes = add(session, call, at)
        _patch(call, event)
    else:
        _patch(call, event)
        changes = [touch(call)]
    _status(session, call, event.status, at)
    return changes + _show_terminals(session, call, event)


def _is_another(session: Session, call: ToolCall, event: ToolCallChanged) -> bool:
    """Some agents number their calls anew with every turn: what begins under an old id is another call, and
    who must decide about it has to see nothing of the old one."""
    if call.turn == session.turn:
        return False
    if event.announced:
        return call.announced
    return call.status in _ENDED and (event.asked or event.status in _UNFINISHED)


def _patch(call: ToolCall, event: ToolCallChanged) -> None:
    call.announced = call.announced or event.announced
    for name in ("title", "name", "kind"):
        value = getattr(event, name)
        if value is not None:
            setattr(call, name, value)
    call.kind_given = call.kind_given or event.kind is not None
    if event.locations is not None and (event.locations or not event.asked):
        call.locations = event.locations
    if event.has_raw_input:
        call.raw_input = event.raw_input
    if event.has_raw_output:
        call.raw_output = event.raw_output
    if event.meta:
        call.meta = {**call.meta, **event.meta}
    if event.content is not None:
        join = _joined if event.asked else _replaced
        call.content = join(call.content, event.content, event.status)
    if event.content is not None or event.kind is not None:
        _settle_colours(call)


def _show_terminals(session: Session, call: ToolCall, event: ToolCallChanged) -> list[Change]:
    """Remember which terminals the call shows: they need not be shown on their own any more."""
    changes: list[Change] = []
    for item in event.content or ():
        if isinstance(item, TerminalRef) and session.terminal_calls.get(item.terminal_id) is not call:
            session.terminal_calls[item.terminal_id] = call
            terminal = session.terminals.get(item.terminal_id)
            if terminal is not None:
                changes.append(touch(terminal))
    return changes


def _joined(before: list[ToolContent], asked: list[ToolContent], _status: str | None) -> list[ToolContent]:
    """What a permission request shows, and what was announced: the request's own words come first, its
    diffs replace those of the same files, and nothing else of what was there is lost to who must decide."""
    replaced = {_subject(item) for item in asked}
    return asked + [item for item in before if _subject(item) not in replaced]


def _replaced(before: list[ToolContent], now: list[ToolContent], status: str | None) -> list[ToolContent]:
    """Content replaces what was there; but the last word on a change that went well is often just that, or
    only the words it replaced, where the whole file was shown before. The better diff stays."""
    known = {item.path: item for item in before if isinstance(item, Diff)}
    if not known:
        return now
    if not any(isinstance(item, Diff) for item in now):
        return [*now, *known.values()] if status == "completed" else now
    return [_wider(known.get(item.path), item) if isinstance(item, Diff) else item for item in now]


def _wider(before: Diff | None, now: Diff) -> Diff:
    """The earlier one of the same file, where it shows the same change in more of the file."""
    if before is None or not (before.old and before.new and now.old) or now.new is None:
        return now
    if before.patch is not None or now.patch is not None or len(before.old) <= len(now.old):
        return now
    same = before.new in (before.old.replace(now.old, now.new, times) for times in (1, -1))
    return before if same else now


def _subject(item: ToolContent) -> tuple[str, str | None, str | None]:
    """What a piece of content is about: of two pieces about the same, one is enough."""
    if isinstance(item, Diff):
        return "diff", item.path, None
    if isinstance(item, TerminalRef):
        return "terminal", item.terminal_id, None
    if item.raw is not None:
        return "unknown", str(id(item)), None
    return item.kind, item.text or item.data, item.uri


def _settle_colours(call: ToolCall) -> None:
    """Only calls that execute show colours; their plain text is without the escapes."""
    if call.kind != "execute":
        return
    for item in call.content:
        if isinstance(item, Content) and item.coloured is not None:
            item.text = without_colours(item.coloured)


def _status(session: Session, call: ToolCall, status: str | None, at: float) -> None:
    """Take over a status, but never back from in_progress to pending, nor to life after a cancel."""
    if status is None or (status == "pending" and call.status != "pending"):
        return
    if status in _UNFINISHED and call.status in (*_ENDED, "cancelled"):
        return
    call.status = status
    if call.done:
        call.ended_at = at
        session.books.open_calls.pop(call.call_id, None)
    else:
        call.ended_at = None
        session.books.open_calls[call.call_id] = call


def close_open_calls(session: Session, status: str, at: float) -> list[Change]:
    """Nothing more will come for the calls still open. A status of the agent's own is left as it is."""
    calls = list(session.books.open_calls.values())
    session.books.open_calls.clear()
    for call in calls:
        if call.status in _UNFINISHED:
            call.status = status
        call.ended_at = at
    return [touch(call) for call in calls]
