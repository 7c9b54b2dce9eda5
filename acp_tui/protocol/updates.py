"""Reads `session/update`, with one reader per kind. Unreadable updates become `Unknown` events."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_tui.protocol import raw_values, values
from acp_tui.protocol.client_calls import read_commands, read_config_options
from acp_tui.protocol.content import (
    patch_diff,
    read_annotations,
    read_blocks,
    read_coloured_block,
    read_locations,
    read_tool_content,
)
from acp_tui.protocol.error_reader import read_error
from acp_tui.protocol.field_faults import SHAPES, Shape, field_faults
from acp_tui.protocol.raw_patches import patch_diffs
from acp_tui.protocol.token_usage import read_quota, read_tokens
from acp_tui.session import events as ev
from acp_tui.session.safe_text import escape_controls, escape_line, visible_excerpt
from acp_tui.session.state import Content, Cost, Level, PlanItem, ToolContent

if TYPE_CHECKING:
    Reader = Callable[[dict[str, Any]], list[ev.Event] | None]

MAX_NAME_CHARACTERS = 40
"""The longest name to look for; the names of the protocol are shorter."""
_REQUESTS = frozenset(
    {
        # Qwen Code asks for prompts that were queued during the turn. acp-tui sends these prompts itself, so
        # it answers with the error -32601.
        "craft/drainMidTurnQueue",
        # Qwen Code announces a turn that it begins by itself when a background agent has ended. The turn's
        # updates are shown as they come.
        "_qwencode/start_turn",
    }
)
_NOTIFICATIONS = (
    # Claude Code and Codex: whether the user is signed in, before every session.
    "_auth/status_update",
    # Qwen Code: a suggestion for the next prompt, and the like.
    "qwen/notify/",
    "_qwencode/",
)


def is_known_request(method: str) -> bool:
    """Return True if a request of this method is refused without telling the user."""
    return method in _REQUESTS


def is_known_notification(method: str) -> bool:
    """Return True if a notification of this method is ignored without telling the user."""
    return method.startswith(_NOTIFICATIONS)


def similar_name(name: Any, known: Iterable[str]) -> str:
    """Return " (did you mean X?)" with the known name most similar to `name`; empty if none is similar."""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARACTERS:
        return ""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.8)
    return f" (did you mean {near[0]}?)" if near else ""


def read_update(update: dict[str, Any]) -> list[ev.Event]:
    """Return the events for the `update` object of a `session/update` in version 1."""
    return read_update_with(READERS, SHAPES, update)


def read_update_with(
    readers: Mapping[str, Reader], shapes: Mapping[str, Shape], update: dict[str, Any]
) -> list[ev.Event]:
    """Return the events for an update, with the readers and shapes of one version of the protocol."""
    kind = update.get("sessionUpdate")
    reader = readers.get(kind) if isinstance(kind, str) else None
    found = None if reader is None else reader(update)
    if found is None:
        return [ev.Unknown(_name_of(update, readers), update)]
    if isinstance(kind, str) and kind in shapes and (faults := field_faults(kind, update, shapes)):
        found = [*found, *faults]
    return found


def _name_of(update: dict[str, Any], readers: Mapping[str, Reader]) -> str:
    kind = update.get("sessionUpdate")
    fields = escape_line(", ".join(name for name in update if name != "sessionUpdate")[:80]) or "nothing"
    if "sessionUpdate" not in update:
        return f"a session update without `sessionUpdate` (it has: {fields})"
    name = f"session update {visible_excerpt(kind, 80)}"
    if isinstance(kind, str) and kind in readers:
        return f"{name} with a missing or wrong field (it has: {fields})"
    return f"{name}{similar_name(kind, readers)}"


# --------------------------------------------------------------------------- messages


def _chunk(update: dict[str, Any], speaker: ev.Speaker) -> list[ev.Event] | None:
    content = update.get("content")
    message_id = update.get("messageId")
    if message_id is not None and type(message_id) is not str:
        message_id = values.raw(update, "messageId")
    if type(content) is dict and type(text := content.get("text")) is str and content.get("type") == "text":
        if "annotations" in content:
            return [ev.TextChunk(speaker, text, message_id, read_annotations(content["annotations"]))]
        return [ev.TextChunk(speaker, text, message_id)]
    if isinstance(content, str):
        return [ev.TextChunk(speaker, content, message_id)]
    if content is None:
        return None
    blocks = read_blocks(content)
    return [
        ev.TextChunk(speaker, block.text, message_id, block.annotations)
        if block.kind == "text"
        else ev.ContentChunk(speaker, block, message_id)
        for block in blocks
    ] + unreadable_content(blocks) or None


def unreadable_content(items: Sequence[ToolContent]) -> list[ev.Event]:
    """Return a fault for each item of content that is shown as it was sent, because it cannot be read."""
    return [
        ev.ProtocolFault(f"Content that acp-tui cannot show (type: {item.kind})", item.raw)
        for item in items
        if isinstance(item, Content) and item.raw is not None
    ]


def _agent_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    events = _chunk(update, "agent")
    usage = values.obj(update["_meta"]).get("usage") if "_meta" in update else None
    if usage is not None and (tokens := read_tokens(usage)):
        return [*(events or []), ev.TokensUsed(tokens)]
    return events


def _thought_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    return _chunk(update, "thought")


# When Gemini CLI and Kimi Code replay a session, they also send notes that they wrote to their models, as
# user messages.
_NOT_WRITTEN_BY_USER = re.compile(r"<session_context>|<system-reminder>|\[Function Response: [^\]\n]*\]\Z")


def _user_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    events = _chunk(update, "user") or []
    if any(isinstance(event, ev.TextChunk) and _NOT_WRITTEN_BY_USER.match(event.text) for event in events):
        return [ev.IgnoredMessage("a note from the agent to its model")]
    return events or None


# --------------------------------------------------------------------------- tool calls


def _tool_call(update: dict[str, Any]) -> list[ev.Event] | None:
    return _tool(update, announced=True)


def _tool_call_update(update: dict[str, Any]) -> list[ev.Event] | None:
    return _tool(update, announced=False)


def _tool(update: dict[str, Any], *, announced: bool) -> list[ev.Event] | None:
    call_id = values.raw(update, "toolCallId", "tool_call_id")
    if call_id is None:
        return None
    call = read_tool_call(update, call_id, announced=announced)
    events = [call, *unreadable_content(call.content or ()), *_terminals(update, call_id)]
    raw_input = update.get("rawInput")
    if type(raw_input) is dict and "todos" in raw_input:
        events += _todos(raw_input["todos"])
    return events


def _todos(listed: Any) -> list[ev.Event]:
    """Return the plan that OpenCode sends only as the input of its tool `todowrite`."""
    complete = isinstance(listed, list) and all(
        isinstance(item, dict)
        and isinstance(item.get("content"), str)
        and isinstance(item.get("status"), str)
        for item in listed
    )
    return [ev.PlanChanged(_plan_items(listed))] if complete and listed else []


# Output of the agent's own terminals in `_meta`. It is stored with the terminal, not with the tool call.
_TERMINAL_OUTPUT = ("terminal_output", "terminal_output_delta")


def read_tool_call(
    source: dict[str, Any], call_id: str, *, announced: bool = False, asked: bool = False
) -> ev.ToolCallChanged:
    """Read a tool call from a `tool_call` (`announced`), an update, or a permission request (`asked`)."""
    content = read_tool_content(source.get("content"))
    if isinstance(patch := source.get("diff"), str):
        content = [*(content or []), patch_diff(patch, values.line(source, "path"))]
    meta = source.get("_meta")
    raw_input, raw_output = source.get("rawInput"), source.get("rawOutput")
    result = raw_values.read_result(raw_output)
    return ev.ToolCallChanged(
        call_id,
        announced=announced,
        title=values.line(source, "title"),
        name=values.line(source, "name"),
        kind=values.line(source, "kind"),
        status=values.line(source, "status"),
        content=content,
        locations=read_locations(source.get("locations")),
        has_raw_input=raw_input is not None,
        raw_input=raw_input,
        has_raw_output=raw_output is not None,
        raw_output=raw_output,
        command=raw_values.read_command(raw_input),
        input_paths=raw_values.read_paths(raw_input),
        output=read_coloured_block(result.output) if result.output.strip() else None,
        exit_code=result.exit_code,
        raw_failed=result.failed,
        hunks=raw_values.read_hunks(raw_input, raw_output, meta),
        input_diffs=patch_diffs(raw_input) if raw_input is not None else [],
        meta={name: value for name, value in meta.items() if name not in _TERMINAL_OUTPUT}
        if isinstance(meta, dict)
        else None,
        asked=asked,
    )


def _terminals(update: dict[str, Any], call_id: str) -> list[ev.Event]:
    """Return the events for the agent's own terminals, which a tool call describes in `_meta`.

    Under both keys in `_TERMINAL_OUTPUT`, agents send only output that they have not sent before.
    """
    meta = update.get("_meta")
    if not isinstance(meta, dict):
        return []
    events: list[ev.Event] = []
    introduced: set[str] = set()
    for name in ("terminal_info", *_TERMINAL_OUTPUT, "terminal_exit"):
        source = meta.get(name)
        if not isinstance(source, dict):
            continue
        terminal_id = values.raw(source, "terminal_id", "terminalId") or call_id
        if terminal_id not in introduced:
            introduced.add(terminal_id)
            command, cwd = values.line(source, "command"), values.line(source, "cwd")
            events.append(ev.TerminalCreated(terminal_id, "agent", command, cwd))
        if name in _TERMINAL_OUTPUT and isinstance(source.get("data"), str):
            events.append(ev.TerminalOutput(terminal_id, source["data"]))
        if name == "terminal_exit":
            code = values.integer(source, "exit_code", "exitCode")
            events.append(ev.TerminalExited(terminal_id, code, values.line(source, "signal")))
    return events


# --------------------------------------------------------------------------- plans, compaction, notices


def _plan(update: dict[str, Any]) -> list[ev.Event] | None:
    listed = update.get("entries")
    return [ev.PlanChanged(_plan_items(listed))] if isinstance(listed, list) else None


def _plan_items(listed: list[Any]) -> list[PlanItem]:
    found: list[PlanItem] = []
    for item in listed:
        source = values.obj(item)
        content = escape_controls(item) if isinstance(item, str) else values.text(source, "content", "title")
        if content is not None:
            status = values.line(source, "status") or "pending"
            found.append(PlanItem(content, status, values.line(source, "priority") or "medium"))
    return found


def _plan_update(update: dict[str, Any]) -> list[ev.Event] | None:
    plan = values.obj(update.get("plan"))
    plan_id = values.raw(plan, "planId")
    match plan.get("type"):
        case "items" if isinstance(plan.get("entries"), list):
            return [ev.PlanChanged(_plan_items(plan["entries"]), plan_id)]
        case "markdown" if (markdown := values.text(plan, "content")) is not None:
            return [ev.PlanChanged(plan_id=plan_id, markdown=markdown)]
        case "file" if (uri := values.line(plan, "uri")) is not None:
            return [ev.PlanChanged(plan_id=plan_id, uri=uri)]
    return None


def _plan_removed(update: dict[str, Any]) -> list[ev.Event] | None:
    plan_id = values.raw(update, "planId")
    return None if plan_id is None else [ev.PlanChanged(plan_id=plan_id, removed=True)]


def _compaction(update: dict[str, Any]) -> list[ev.Event] | None:
    compaction_id = values.raw(update, "compactionId")
    if compaction_id is None:
        return None
    meta = values.obj(update.get("_meta"))
    return [
        ev.CompactionChanged(
            compaction_id,
            status=values.line(update, "status"),
            summary=read_blocks(update["summary"] or []) if "summary" in update else None,
            error=values.text(update, "error") or "" if "error" in update else None,
            tokens_before=values.integer(meta, "preTokens"),
            tokens_after=values.integer(meta, "postTokens"),
        )
    ]


def _compaction_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    compaction_id = values.raw(update, "compactionId")
    content = update.get("content")
    if compaction_id is None or content is None:
        return None
    source = values.obj(content)
    text = content if isinstance(content, str) else source.get("text")
    if isinstance(text, str) and source.get("type", "text") == "text":
        return [ev.CompactionChunk(compaction_id, text)]
    return [ev.CompactionChunk(compaction_id, content=block) for block in read_blocks(content)]


def _notice(update: dict[str, Any]) -> list[ev.Event] | None:
    title = values.line(update, "title", "message")
    if title is None:
        return None
    levels: dict[str | None, Level] = {"warning": "warning", "error": "error"}
    level = levels.get(values.raw(update, "severity"), "info")
    return [ev.AgentNotice(level, title, values.text(update, "description", "detail"))]


# --------------------------------------------------------------------------- facts


def _commands(update: dict[str, Any]) -> list[ev.Event] | None:
    found = read_commands(update)
    return None if found is None else [ev.CommandsChanged(found)]


def _mode(update: dict[str, Any]) -> list[ev.Event] | None:
    mode = values.raw(update, "currentModeId", "modeId")
    return None if mode is None else [ev.ModeChanged(mode)]


def _options(update: dict[str, Any]) -> list[ev.Event] | None:
    options = read_config_options(update)
    return None if options is None else [ev.ConfigOptionsChanged(options)]


def _info(update: dict[str, Any]) -> list[ev.Event] | None:
    title = values.line(update, "title")
    if title is None and update.get("title") is not None:
        return None
    cleared = "title" in update and title is None
    return [ev.InfoChanged(title, cleared, values.line(update, "updatedAt"))]


def _usage(update: dict[str, Any]) -> list[ev.Event] | None:
    cost = values.obj(update.get("cost"))
    amount = values.number(cost, "amount")
    paid = None if amount is None else Cost(amount, values.line(cost, "currency") or "")
    usage = ev.UsageChanged(values.integer(update, "used"), values.integer(update, "size"), paid)
    if usage == ev.UsageChanged() and values.first(update, "used", "size", "cost") is not None:
        return None
    quota = read_quota(update)
    return [usage] if quota is None else [usage, ev.QuotaChanged(quota)]


# --------------------------------------------------------------------------- subagents and other sessions

_PARENT_CALL = ("parentToolCallId", "parentToolUseId", "parent_tool_call_id", "parent_tool_use_id")
_PARENT_CALL_SET = frozenset(_PARENT_CALL)
_STATES = ("running", "requires_action", "idle")


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


def _subagent(update: dict[str, Any]) -> list[ev.Event] | None:
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
    if "state" not in update:
        return [event]
    _read_state(event, update["state"])
    return [event, *unknown_state(event.state, update)]


def _subagent_state(update: dict[str, Any]) -> list[ev.Event] | None:
    """Read a `state_update`, which a subagent sends in its own session."""
    event = ev.SubagentChanged("")
    _read_state(event, update)
    return [event, *unknown_state(event.state, update)] if event.state else None


def unknown_state(state: str | None, update: dict[str, Any]) -> list[ev.Event]:
    """Return a fault for a state of a session that the protocol does not define.

    Custom states begin with `_`.
    """
    if not state or state in _STATES or state.startswith("_"):
        return []
    return [ev.ProtocolFault(f"Unknown session state {state!r}", update)]


def _read_state(event: ev.SubagentChanged, value: Any) -> None:
    source = {"state": value} if isinstance(value, str) else values.obj(value)
    event.state = values.line(source, "state") or ""
    event.stop_reason = values.line(source, "stopReason")
    if event.stop_reason == "error":
        event.error = read_error(source.get("error") or {"message": "The subagent failed"})


def _clearable(source: dict[str, Any], name: str) -> str | None:
    """Return the text of a field, safe to display: empty if it has no text, None if it is missing."""
    return (values.line(source, name) or "") if name in source else None


def _session_message(update: dict[str, Any]) -> list[ev.Event] | None:
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


def _session_message_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    """Read a part of the content of a message from one session to another."""
    message_id, content = values.raw(update, "messageId"), update.get("content")
    if message_id is None or content is None:
        return None
    return [ev.SessionMessageChanged(message_id, contents=read_blocks(content), is_chunk=True)]


READERS: dict[str, Reader] = {
    "agent_message_chunk": _agent_chunk,
    "agent_thought_chunk": _thought_chunk,
    "user_message_chunk": _user_chunk,
    "tool_call": _tool_call,
    "tool_call_update": _tool_call_update,
    "plan": _plan,
    "plan_update": _plan_update,
    "plan_removed": _plan_removed,
    "available_commands_update": _commands,
    "available_commands": _commands,
    "current_mode_update": _mode,
    "config_option_update": _options,
    "session_info_update": _info,
    "usage_update": _usage,
    "notice": _notice,
    "compaction_update": _compaction,
    "compaction_summary_chunk": _compaction_chunk,
    "subagent_update": _subagent,
    "state_update": _subagent_state,
    "session_message": _session_message,
    "session_message_chunk": _session_message_chunk,
}
"""The functions that read updates, by the kind of update. They return None if the update is unreadable."""
