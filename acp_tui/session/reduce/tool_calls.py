"""Tool calls. All events of a call update one entry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.session.diff_position import line_by_hunks
from acp_tui.session.mcp_tool import OWN_SERVER, McpTool, find_mcp_tool, mcp_tool_in_input, tool_names
from acp_tui.session.reduce.entries import add_entry, out_of_phase, touch
from acp_tui.session.reduce.terminals import set_agent_command
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.session.state import (
    Content,
    Diff,
    Location,
    OwnToolCall,
    Session,
    Terminal,
    TerminalRef,
    ToolCall,
    ToolContent,
)
from acp_tui.session.terminal_text import strip_colours

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.events import DiffPlaced, ToolCallChanged
    from acp_tui.session.record import Change


_UNFINISHED = ("pending", "in_progress")
_ENDED = ("completed", "failed")
_SHOWN_AS_TEXT = ("execute", "read")
"""The kinds of calls whose raw output is shown as text. Other calls show it as JSON."""


def tool_call_changed(session: Session, event: ToolCallChanged, at: float) -> list[Change]:
    """Update the tool call with the event's id. Add a new call if the id is unknown or reused."""
    call = session.tool_calls.get(event.call_id)
    if call is None or _reuses_id(session, call, event):
        call = ToolCall(id=0, at=at, call_id=event.call_id, stray=out_of_phase(session))
        session.tool_calls[event.call_id] = call
        session.reducer_state.open_calls[event.call_id] = call
        changes = add_entry(session, call, at)
    else:
        changes = [touch(call)]
    _apply(call, event)
    if event.content is not None:
        _remove_terminal_text(session, call)
    if session.mcp_servers:
        names = tool_names(call.name, call.meta)
        call.mcp_tool = mcp_tool_in_input(call.raw_input, call.meta, session.mcp_servers) or find_mcp_tool(
            names, call.title, call.kind, session.mcp_servers
        )
    changes += _show_raw_output(session, call, event)
    _set_status(session, call, event.status, at)
    changes += _link_terminals(session, call, event)
    if event.command is not None:
        for terminal in _terminals(session, call):
            set_agent_command(session, terminal)
    return changes


def _reuses_id(session: Session, call: ToolCall, event: ToolCallChanged) -> bool:
    """Return True if the event starts a new call with the id of a call from an earlier turn.

    Some agents number their calls per turn. Without this check, the dialog that asks permission for the new
    call could show details of the old call.
    """
    if call.turn == session.turn or event.is_patch:
        return False
    if event.announced:
        return call.announced
    return call.status in _ENDED and (event.asked or event.status in _UNFINISHED)


def _apply(call: ToolCall, event: ToolCallChanged) -> None:
    call.announced = call.announced or event.announced
    _clear(call, event.cleared)
    _set_titles(call, event)
    if event.can_cancel is not None:
        call.can_cancel = event.can_cancel
    call.name = event.name or call.name
    call.kind = event.kind or call.kind
    call.kind_given = call.kind_given or event.kind is not None
    if event.locations is not None and (event.locations or not event.asked):
        call.locations = event.locations
    if event.has_raw_input:
        call.raw_input = event.raw_input
        call.command, call.input_paths = event.command, event.input_paths
        call.input_diffs = event.input_diffs
    if event.has_raw_output:
        call.raw_output = event.raw_output
        call.exit_code, call.raw_failed = event.exit_code, event.raw_failed
    if event.meta:
        call.meta = {**call.meta, **event.meta}
    _set_content(call, event)
    if event.hunks:
        call.hunks = [*call.hunks, *(hunk for hunk in event.hunks if hunk not in call.hunks)]
    if call.hunks:
        _set_diff_lines(call)
    if event.content is not None or event.kind is not None:
        _strip_colours(call)


def _set_content(call: ToolCall, event: ToolCallChanged) -> None:
    before = call.content
    if event.content is not None:
        known = [item for item in before if not _is_from_input(item)]
        if event.asked:
            call.content = _add_request_content(known, event.content)
        elif event.is_patch:
            call.content = list(event.content)
        else:
            call.content = _replace_content(known, event.content, event.status)
        call.has_result = call.has_result or _is_result(event)
    if event.added:
        call.content = [*call.content, *event.added]
    if event.content is not None or event.added or event.has_raw_input:
        _show_input_diffs(call)
        _copy_diff_lines(before, call.content)


def _clear(call: ToolCall, names: frozenset[str]) -> None:
    """Forget the fields of a call that the agent has set to null."""
    if not names:
        return
    empty = ToolCall(id=0, at=0.0, call_id="")
    for name in names:
        setattr(call, name, getattr(empty, name))
    if "raw_input" in names:
        call.command, call.input_paths, call.input_diffs = None, [], []
    if "raw_output" in names:
        call.exit_code, call.raw_failed, call.raw_content = None, False, None
    if "content" in names:
        call.has_result = False
    if "kind" in names:
        call.kind_given = False


def _is_from_input(item: ToolContent) -> bool:
    return isinstance(item, Diff) and item.from_input


def _show_input_diffs(call: ToolCall) -> None:
    """Show the patches in the raw input as diffs, unless the agent also sends diffs as content."""
    own = [item for item in call.content if not _is_from_input(item)]
    sent = any(isinstance(item, Diff) for item in own)
    call.content = own if sent else [*own, *call.input_diffs]


def _set_titles(call: ToolCall, event: ToolCallChanged) -> None:
    """Set the title of a call, or a separate title for its permission request.

    In version 1, the title in a permission request ("Edit file") often says less than the title of the call
    ("Editing src/app.py"), so it is stored separately. But if the call's title is a single word ("edit"), it
    is replaced. In version 2, a request has a title of its own.
    """
    title, question = event.title, event.question_title
    if title is not None and event.asked and not event.is_patch:
        question = title
        if title == call.title or len(call.title.split()) <= 1:
            call.title = title
    elif title is not None:
        call.title = title
    if question is not None:
        call.question_title = question if question != call.title else None


def _is_result(event: ToolCallChanged) -> bool:
    """Return True if an event's content is output of the tool.

    Before the output, some agents send the tool's arguments as content, in JSON.
    """
    if event.asked:
        return False
    texts = [item.text.strip() for item in event.content or () if isinstance(item, Content)]
    return any(text and (event.status in _ENDED or not text.startswith("{")) for text in texts)


def _show_raw_output(session: Session, call: ToolCall, event: ToolCallChanged) -> list[Change]:
    """Show output that only `rawOutput` contains: in the call's terminal if any, otherwise as text.

    Nothing is done for calls of most kinds without other content: they show `rawOutput` as JSON.
    """
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
    if rest or call.kind in _SHOWN_AS_TEXT:
        call.raw_content = output
        call.content = [*rest, output]
        _strip_colours(call)
    return []


def _terminals(session: Session, call: ToolCall) -> list[Terminal]:
    refs = [item.terminal_id for item in call.content if isinstance(item, TerminalRef)]
    return [terminal for name in refs if (terminal := session.terminals.get(name)) is not None]


def _copy_diff_lines(before: list[ToolContent], now: list[ToolContent]) -> None:
    """Copy line numbers from earlier diffs to identical new diffs without line numbers."""
    known = {
        (item.path, item.old, item.new): item.line
        for item in before
        if isinstance(item, Diff) and item.line is not None
    }
    for item in now if known else ():
        if isinstance(item, Diff) and item.line is None:
            item.line = known.get((item.path, item.old, item.new))


def _set_diff_lines(call: ToolCall) -> None:
    for item in call.content:
        if isinstance(item, Diff) and item.line is None:
            item.line = line_by_hunks(item, call.hunks)


def diff_placed(session: Session, event: DiffPlaced, _at: float) -> list[Change]:
    """Store the line at which a diff was found in its file."""
    call = session.tool_calls.get(event.call_id)
    item = call.content[event.index] if call and 0 <= event.index < len(call.content) else None
    if call is None or not isinstance(item, Diff) or item.path != event.path or event.line < 1:
        return []
    item.line = event.line
    return [touch(call)]


def _link_terminals(session: Session, call: ToolCall, event: ToolCallChanged) -> list[Change]:
    """Link terminals to the call that shows them, so that they are not also shown as separate entries."""
    changes: list[Change] = []
    for item in (*(event.content or ()), *event.added):
        if isinstance(item, TerminalRef) and session.terminal_calls.get(item.terminal_id) is not call:
            session.terminal_calls[item.terminal_id] = call
            terminal = session.terminals.get(item.terminal_id)
            if terminal is not None:
                changes.append(touch(terminal))
    return changes


def _add_request_content(before: list[ToolContent], now: list[ToolContent]) -> list[ToolContent]:
    """Return a permission request's content (`now`), then items of `before` without a duplicate in `now`."""
    replaced = {_identity(item) for item in now}
    now = [replace(item, of_request=True) if isinstance(item, Content) else item for item in now]
    return now + [item for item in before if _identity(item) not in replaced]


def _replace_content(
    before: list[ToolContent], now: list[ToolContent], status: str | None
) -> list[ToolContent]:
    """Return the new content of a call, but keep earlier diffs that show more of a change.

    When an edit is completed, many agents replace its diff by a message, or by a diff of the changed words
    only.
    """
    inferred = [item for item in before if isinstance(item, TerminalRef) and item.inferred]
    if inferred and not any(isinstance(item, TerminalRef) for item in now):
        now = [*inferred, *now]
    known = {item.path: item for item in before if isinstance(item, Diff)}
    if not known:
        return now
    if not any(isinstance(item, Diff) for item in now):
        return [*now, *known.values()] if status == "completed" else now
    return [_longer_diff(known.get(item.path), item) if isinstance(item, Diff) else item for item in now]


def _remove_terminal_text(session: Session, call: ToolCall) -> None:
    """Remove from a call's texts the output that is shown in a terminal which the agent did not name."""
    shown = [
        text
        for item in call.content
        if isinstance(item, TerminalRef) and item.inferred
        if (terminal := session.terminals.get(item.terminal_id)) is not None
        if (text := strip_colours(terminal.output.head.replace("\r\n", "\n")).strip())
    ]
    for item in list(call.content) if shown else ():
        if isinstance(item, Content) and item.kind == "text" and item.text:
            item.text = item.text.replace(shown[0], "").strip()
            item.coloured = None
            if not item.text:
                call.content.remove(item)


def _longer_diff(before: Diff | None, now: Diff) -> Diff:
    """Return the earlier diff if it shows the same change and more of the file, otherwise the new diff."""
    if before is None or not (before.old and before.new and now.old) or now.new is None:
        return now
    if before.patch is not None or now.patch is not None or len(before.old) <= len(now.old):
        return now
    same = before.new in (before.old.replace(now.old, now.new, times) for times in (1, -1))
    return before if same else now


def _identity(item: ToolContent) -> tuple[str, str | None, str | None]:
    """Return a key that is equal for items that duplicate each other."""
    if isinstance(item, Diff):
        return "diff", item.path, item.old_path
    if isinstance(item, TerminalRef):
        return "terminal", item.terminal_id, None
    if item.raw is not None:
        return "unknown", str(id(item)), None
    return item.kind, item.text or item.data, item.uri


def _strip_colours(call: ToolCall) -> None:
    """Remove SGR escapes from the `text` of command output. The field `coloured` keeps them, for display."""
    if call.kind != "execute":
        return
    for item in call.content:
        if isinstance(item, Content) and item.coloured is not None:
            item.text = strip_colours(item.coloured)


def _set_status(session: Session, call: ToolCall, status: str | None, at: float) -> None:
    """Set a call's status.

    A started call never becomes pending. A completed, failed or cancelled call never starts again.
    """
    if status is None or (status == "pending" and call.status != "pending"):
        return
    if status in _UNFINISHED and call.status in (*_ENDED, "cancelled"):
        return
    call.status = "failed" if status == "completed" and _has_failed(call) else status
    if call.done:
        call.ended_at = at
        session.reducer_state.open_calls.pop(call.call_id, None)
    else:
        call.ended_at = None
        session.reducer_state.open_calls[call.call_id] = call


def _has_failed(call: ToolCall) -> bool:
    """Return True if the raw output says that the call failed: some agents mark failed calls as completed.

    Exit codes count only for the kinds "execute" and "other": for a search, an exit code may mean that
    nothing was found.
    """
    return call.raw_failed and (not call.exit_code or call.kind in ("execute", "other"))


def is_unfinished(call: ToolCall) -> bool:
    """Return True if the call is pending or running."""
    return call.status in _UNFINISHED


def close_open_calls(session: Session, status: str, at: float) -> list[Change]:
    """End all open calls. Pending and running calls get `status`. Others keep their unknown status."""
    calls = list(session.reducer_state.open_calls.values())
    session.reducer_state.open_calls.clear()
    for call in calls:
        if is_unfinished(call):
            call.status = status
        call.ended_at = at
    return [touch(call) for call in calls]


def own_tool_called(session: Session, event: ev.OwnToolCalled, at: float) -> list[Change]:
    """Add a running call of one of acp-tui's own tools to the transcript."""
    content: list[ToolContent] = [Content("text", event.text)] if event.text else []
    content += [diff for item in event.diffs if (diff := _diff(item)) is not None]
    path = (event.path or "").removeprefix(f"{session.cwd}/") if session.cwd else event.path or ""
    title = f"{path}:{event.line}" if path and event.line is not None else path
    title = title or event.text.strip().partition("\n")[0]
    call = ToolCall(
        id=0,
        at=at,
        call_id=event.call_id,
        title=title,
        mcp_tool=McpTool(OWN_SERVER, event.tool, source="name", is_title=not title),
        status="in_progress",
        content=content,
        locations=[Location(event.path, event.line)] if event.path else [],
        raw_input=event.arguments,
        announced=True,
        served=True,
    )
    entry = OwnToolCall(id=0, at=at, call=call, stray=out_of_phase(session))
    session.own_tool_calls[event.call_id] = entry
    return add_entry(session, entry, at)


def own_tool_ended(session: Session, event: ev.OwnToolEnded, at: float) -> list[Change]:
    """Store how a call of one of acp-tui's own tools ended."""
    entry = session.own_tool_calls.pop(event.call_id, None)
    return [] if entry is None else _end(entry, event.status, event.text, at)


def end_own_tool_calls(session: Session, at: float) -> list[Change]:
    """End all running calls of acp-tui's own tools, because the agent has exited."""
    entries = list(session.own_tool_calls.values())
    session.own_tool_calls.clear()
    return [change for entry in entries for change in _end(entry, "cancelled", "", at)]


def _end(entry: OwnToolCall, status: str, text: str, at: float) -> list[Change]:
    call = entry.call
    call.status = status if status in ("completed", "failed") else "cancelled"
    call.ended_at = at
    if text:
        call.content = [*call.content, Content("text", text)]
    return [touch(entry)]


def _diff(item: dict[str, Any]) -> Diff | None:
    """Return the diff that an item of a recorded event describes; None if the item is damaged."""
    path, old, new, line = (item.get(name) for name in ("path", "old", "new", "line"))
    if not isinstance(path, str) or not all(text is None or isinstance(text, str) for text in (old, new)):
        return None
    shown_old, shown_new = (None if text is None else escape_controls(text) for text in (old, new))
    return Diff(escape_line(path), shown_old, shown_new, line=line if isinstance(line, int) else None)
