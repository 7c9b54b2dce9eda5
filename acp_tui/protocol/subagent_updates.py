"""Reads the kinds of `session/update` about subagents, and the messages between sessions.

The readers return None if an update is unreadable.
"""

from __future__ import annotations

from typing import Any

from acp_tui.protocol import values
from acp_tui.protocol.content import read_blocks
from acp_tui.protocol.error_reader import read_error
from acp_tui.session import events as ev


def parent_call_id(update: dict[str, Any]) -> str | None:
    """For an update from a subagent, return the id of the tool call that started the subagent; else None.

    Agents send this id for subagents that have no session of their own. The id is in the update itself, in
    `_meta`, or in an object inside `_meta`, as in `_meta.claudeCode.parentToolUseId`.
    """
    meta = values.obj(update.get("_meta"))
    for source in (update, meta, *meta.values()):
        # This runs for every chunk, so it must be fast.
        is_named = isinstance(source, dict) and not _PARENT_CALL_SET.isdisjoint(source)
        if is_named and (call_id := values.raw(source, *_PARENT_CALL)) is not None:
            return call_id
    return None


_PARENT_CALL = ("parentToolCallId", "parentToolUseId", "parent_tool_call_id", "parent_tool_use_id")
_PARENT_CALL_SET = frozenset(_PARENT_CALL)


def read_subagent(update: dict[str, Any]) -> list[ev.Event] | None:
    """Read what a `subagent_update` says about a subagent, which has a session of its own."""
    session_id = values.raw(update, "sessionId")
    if not session_id:
        return None
    event = ev.SubagentChanged(
        session_id,
        title=_clearable(update, "title"),
        description=_clearable(update, "description"),
        cwd=_clearable(update, "cwd"),
    )
    if "capabilities" in update:
        cancel = values.obj(update["capabilities"]).get("cancel")
        event.can_cancel = cancel is not None and cancel is not False
    if "state" in update:
        _read_state(event, update["state"])
    return [event]


def read_state(update: dict[str, Any]) -> list[ev.Event] | None:
    """Read a `state_update`, which a subagent sends in its own session."""
    event = ev.SubagentChanged("")
    _read_state(event, update)
    return None if not event.state else [event]


def _read_state(event: ev.SubagentChanged, value: Any) -> None:
    source = {"state": value} if isinstance(value, str) else values.obj(value)
    event.state = values.line(source, "state") or ""
    event.stop_reason = values.line(source, "stopReason")
    if event.stop_reason == "error":
        event.error = read_error(source.get("error") or {"message": "The subagent failed"})


def _clearable(source: dict[str, Any], name: str) -> str | None:
    """Return the text of a field, safe to display: empty if it has no text, None if it is missing."""
    return (values.line(source, name) or "") if name in source else None


def read_session_message(update: dict[str, Any]) -> list[ev.Event] | None:
    """Read a message from one session to another."""
    message_id = values.raw(update, "messageId")
    if message_id is None:
        return None
    event = ev.SessionMessageChanged(message_id)
    if "senderSessionId" in update:
        event.sender = values.raw(update, "senderSessionId") or ""
    if "recipientSessionId" in update:
        event.recipient = values.raw(update, "recipientSessionId") or ""
    if "content" in update:
        event.contents = read_blocks(update["content"] or [])
    return [event]


def read_session_message_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    """Read a part of the content of a message from one session to another."""
    message_id, content = values.raw(update, "messageId"), update.get("content")
    if message_id is None or content is None:
        return None
    return [ev.SessionMessageChanged(message_id, contents=read_blocks(content), is_chunk=True)]
