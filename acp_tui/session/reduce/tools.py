"""Tool calls: an announcement and its updates become one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.ansi_text import strip_colours
from acp_tui.session.diff_position import line_by_hunks
from acp_tui.session.reduce.entries import add_entry, out_of_phase, touch
from acp_tui.session.reduce.terminals import name_command
from acp_tui.session.state import Content, Diff, TerminalRef, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.change import Change
    from acp_tui.session.events import DiffPlaced, ToolCallChanged
    from acp_tui.session.state import Session, Terminal, ToolContent

_UNFINISHED = ("pending", "in_progress")
_ENDED = ("completed", "failed")


def tool_call_changed(session: Session, event: ToolCallChanged, at: float) -> list[Change]:
    """A patch: what it does not name stays. An id we do not know makes a call."""
    call = session.tool_calls.get(event.call_id)
    if call is None or _is_another(session, call, event):
        call = ToolCall(id=0, at=at, call_id=event.call_id, stray=out_of_phase(session))
        session.tool_calls[event.call_id] = call
        session.reducer_state.open_calls[event.call_id] = call
        changes = add_entry(session, call, at)
    else:
        changes = [touch(call)]
    _patch(call, event)
    changes += _show_raw_output(session, call, event)
    _status(session, call, event.status, at)
    changes += _show_terminals(session, call, event)
    if event.command is not None:
        for terminal in _terminals(session, call):
            name_command(session, terminal)
    return changes


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
    if event.title is not None:
        _take_title(call, event.title, asked=event.asked)
    call.name = event.name or call.name
    call.kind = event.kind or call.kind
    call.kind_given = call.kind_given or event.kind is not None
    if event.locations is not None and (event.locations or not event.asked):
        call.locations = event.locations
    if event.has_raw_input:
        call.raw_input = event.raw_input
        call.command, call.input_paths = event.command, event.input_paths
    if event.has_raw_output:
        call.raw_output = event.raw_output
        call.exit_code, call.raw_failed = event.exit_code, event.raw_failed
    if event.meta:
        call.meta = {**call.meta, **event.meta}
    if event.content is not None:
        join = _joined if event.asked else _replaced
        before = call.content
        call.content = join(before, event.content, event.status)
        _keep_lines(before, call.content)
        call.has_result = call.has_result or _is_result(event)
    if event.hunks:
        call.hunks = [*call.hunks, *(hunk for hunk in event.hunks if hunk not in call.hunks)]
    if call.hunks:
        _place_diffs(call)
    if event.content is not None or event.kind is not None:
        _settle_colours(call)


def _take_title(call: ToolCall, title: str, *, asked: bool) -> None:
    """A question often has a title of its own ("Edit file"), which says less than that of its call
    ("Editing src/app.py"). A bare name ("edit") says the least."""
    if asked and title != call.title and len(call.title.split()) > 1:
        call.question_title = title
        return
    call.title = title
    if asked:
        call.question_title = None


def _is_result(event: ToolCallChanged) -> bool:
    """Does the content say how the call went? Arguments may stream as text, which is JSON."""
    if event.asked:
        return False
    texts = [item.text.strip() for item in event.content or () if isinstance(item, Content)]
    return any(text and (event.status in _ENDED or not text.startswith("{")) for text in texts)


def _show_raw_output(session: Session, call: ToolCall, event: ToolCallChanged) -> list[Change]:
    """Show the output that is nowhere but in `rawOutput`: in the call's terminal, else as text."""
    output = event.output
    if output is None or call.has_result or any(isinstance(item, Diff) for item in call.content):
        return []
    terminals = _terminals(session, call)
    if any(terminal.owner == "client" or terminal.output.total for terminal in terminals):
        return []
    if terminals:
        terminals[-1].output.append(output.coloured or output.text)
        return [touch(terminals[-1])]
    rest = [item for item in call.content if item is not call.raw_content]
    if rest or call.kind in _SHOWN_AS_TEXT:  # else the raw values are shown as they are
        call.raw_content = output
        call.content = [*rest, output]
        _settle_colours(call)
    return []


_SHOWN_AS_TEXT = ("execute", "read")


def _terminals(session: Session, call: ToolCall) -> list[Terminal]:
    refs = [item.terminal_id for item in call.content if isinstance(item, TerminalRef)]
    return [terminal for name in refs if (terminal := session.terminals.get(name)) is not None]


def _keep_lines(before: list[ToolContent], now: list[ToolContent]) -> None:
    """A diff that comes again stays at its place in the file."""
    known = {
        (item.path, item.old, item.new): item.line
        for item in before
        if isinstance(item, Diff) and item.line is not None
    }
    for item in now if known else ():
        if isinstance(item, Diff) and item.line is None:
            item.line = known.get((item.path, item.old, item.new))


def _place_diffs(call: ToolCall) -> None:
    for item in call.content:
        if isinstance(item, Diff) and item.line is None:
            item.line = line_by_hunks(item, call.hunks)


def diff_placed(session: Session, event: DiffPlaced, _at: float) -> list[Change]:
    """The client found the diff in its file."""
    call = session.tool_calls.get(event.call_id)
    item = call.content[event.index] if call and 0 <= event.index < len(call.content) else None
    if call is None or not isinstance(item, Diff) or item.path != event.path or event.line < 1:
        return []
    item.line = event.line
    return [touch(call)]


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
            item.text = strip_colours(item.coloured)


def _status(session: Session, call: ToolCall, status: str | None, at: float) -> None:
    """Take over a status, but never back from in_progress to pending, nor to life after a cancel."""
    if status is None or (status == "pending" and call.status != "pending"):
        return
    if status in _UNFINISHED and call.status in (*_ENDED, "cancelled"):
        return
    call.status = "failed" if status == "completed" and _failed(call) else status
    if call.done:
        call.ended_at = at
        session.reducer_state.open_calls.pop(call.call_id, None)
    else:
        call.ended_at = None
        session.reducer_state.open_calls[call.call_id] = call


def _failed(call: ToolCall) -> bool:
    """Some agents call a failed command completed, and tell its exit code in the raw output only.

    Of a search, an exit code may mean that nothing was found.
    """
    return call.raw_failed and (not call.exit_code or call.kind in ("execute", "other"))


def close_open_calls(session: Session, status: str, at: float) -> list[Change]:
    """Nothing more will come for the calls still open. A status of the agent's own is left as it is."""
    calls = list(session.reducer_state.open_calls.values())
    session.reducer_state.open_calls.clear()
    for call in calls:
        if call.status in _UNFINISHED:
            call.status = status
        call.ended_at = at
    return [touch(call) for call in calls]
