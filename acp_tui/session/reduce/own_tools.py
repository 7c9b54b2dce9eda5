"""Calls of the tools that acp-tui itself offers to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.session.mcp_tool import OWN_SERVER, McpTool
from acp_tui.session.reduce.entries import add_entry, out_of_phase, touch
from acp_tui.session.state import Content, Diff, Location, OwnToolCall, ToolCall
from acp_tui.session.text.safe_text import visible, visible_line

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session, ToolContent


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
    shown_old, shown_new = (None if text is None else visible(text) for text in (old, new))
    return Diff(visible_line(path), shown_old, shown_new, line=line if isinstance(line, int) else None)
