"""The kinds of entries. A new kind needs an event, a reducer and a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_tui.entry_kinds import (
    compaction,
    messages,
    notices,
    plan,
    requests,
    subagent,
    terminal,
    tool_call,
)
from acp_tui.entry_kinds.kind import EntryKind, Imported
from acp_tui.session import state

if TYPE_CHECKING:
    from acp_tui.session.state import Entry


_RENDERERS = "acp_tui.ui.entries"

TOOL_CALL = EntryKind(
    title="Tool call",
    renderer=Imported(f"{_RENDERERS}.tool_call:ToolCallBody"),
    plain_text=tool_call.plain_text,
    blocks=tool_call.blocks,
    search_text=tool_call.search_text,
    progress=tool_call.progress,
    progress_updates=True,
    foldable=True,
    starts_folded=tool_call.starts_folded,
    code=tool_call.code,
    location=tool_call.location,
    media=lambda call: messages.first_media(call.content),
    landmark="tool",
    is_error=tool_call.has_failed,
    spacing="compact",
    estimated_height=tool_call.estimated_height,
    is_running=lambda call: not call.done,
)
_CALL_FUNCTIONS = (
    "blocks", "plain_text", "search_text", "progress", "starts_folded", "code", "location", "is_error",
    "is_running",
)  # fmt: skip
"""The functions of `TOOL_CALL` that a call of acp-tui's own tools shares."""


def _of_call(function: Callable[..., Any]) -> Any:
    """Return the function of an `OwnToolCall` that does to its call what `function` does to a tool call."""
    return lambda entry, *context: function(entry.call, *context)


KINDS: dict[type[Entry], EntryKind] = {
    state.UserMessage: EntryKind(
        title="Your prompt",
        renderer=Imported(f"{_RENDERERS}.messages:user_message_body"),
        blocks=messages.prompt_blocks,
        search_text=messages.search_text,
        code=Imported(f"{_RENDERERS}.messages:code_blocks"),
        media=lambda message: messages.first_media(message.parts),
        landmark="prompt",
        estimated_height=messages.prompt_height,
    ),
    state.AgentMessage: EntryKind(
        title="Answer",
        renderer=Imported(f"{_RENDERERS}.messages:agent_message_body"),
        blocks=messages.answer_blocks,
        search_text=messages.search_text,
        is_markdown=True,
        code=Imported(f"{_RENDERERS}.messages:code_blocks"),
        media=lambda message: messages.first_media(message.parts),
        estimated_height=messages.answer_height,
    ),
    state.Thought: EntryKind(
        title="Thought",
        renderer=Imported(f"{_RENDERERS}.messages:ThoughtBody"),
        plain_text=messages.thought_lines,
        blocks=messages.thought_blocks,
        search_text=messages.search_text,
        is_markdown=True,
        foldable=True,
        starts_folded=messages.is_over,
        code=Imported(f"{_RENDERERS}.messages:code_blocks"),
        media=lambda message: messages.first_media(message.parts),
        spacing="tight",
        is_running=lambda thought: thought.ended_at is None,
    ),
    state.ToolCall: TOOL_CALL,
    state.OwnToolCall: EntryKind(
        title="acp-tui tool call",
        renderer=Imported(f"{_RENDERERS}.tool_call:own_tool_call_body"),
        progress_updates=True,
        foldable=True,
        landmark="tool",
        spacing="compact",
        **{name: _of_call(getattr(TOOL_CALL, name)) for name in _CALL_FUNCTIONS},
    ),
    state.Plan: EntryKind(
        title="Plan",
        renderer=Imported(f"{_RENDERERS}.plan:body"),
        plain_text=plan.plain_text,
        blocks=plan.blocks,
        search_text=plan.search_text,
        progress=plan.progress,
        foldable=True,
    ),
    state.Permission: EntryKind(
        title="Permission",
        renderer=Imported(f"{_RENDERERS}.requests:permission_body"),
        plain_text=requests.permission_lines,
        blocks=requests.permission_blocks,
        search_text=requests.permission_search_text,
        spacing="remark",
    ),
    state.Elicitation: EntryKind(
        title="Question",
        renderer=Imported(f"{_RENDERERS}.requests:elicitation_body"),
        plain_text=requests.elicitation_lines,
        blocks=requests.elicitation_blocks,
        search_text=requests.elicitation_search_text,
        progress=requests.elicitation_progress,
        progress_updates=True,
    ),
    state.Terminal: EntryKind(
        title="Command",
        renderer=Imported(f"{_RENDERERS}.terminal:body"),
        plain_text=terminal.plain_text,
        blocks=terminal.blocks,
        search_text=terminal.search_text,
        foldable=True,
        code=terminal.code,
        spacing="compact",
        is_running=lambda entry: entry.ended_at is None,
        shown_in=terminal.call_of,
    ),
    state.Notice: EntryKind(
        title="Notice",
        renderer=Imported(f"{_RENDERERS}.notices:notice_body"),
        plain_text=notices.notice_lines,
        blocks=notices.notice_blocks,
        search_text=notices.notice_search_text,
        progress=notices.notice_progress,
        warning=notices.notice_warning,
        starts_folded=notices.notice_starts_folded,
        is_error=notices.is_error,
        spacing="remark",
    ),
    state.HandMessage: EntryKind(
        title="Message by hand",
        renderer=Imported(f"{_RENDERERS}.notices:hand_message_body"),
        plain_text=notices.hand_message_lines,
        blocks=notices.hand_message_blocks,
        search_text=notices.hand_message_search_text,
        progress=notices.hand_message_title,
        progress_updates=True,
        foldable=True,
        starts_folded=lambda _: True,
        is_error=lambda message: message.error is not None,
        spacing="remark",
    ),
    state.TurnEnd: EntryKind(
        title="End of the turn",
        renderer=Imported(f"{_RENDERERS}.notices:turn_end_body"),
        plain_text=notices.turn_end_lines,
        blocks=notices.turn_end_blocks,
        search_text=notices.turn_end_search_text,
        progress=notices.turn_end_progress,
        starts_folded=notices.turn_end_starts_folded,
        is_error=notices.has_failed,
        estimated_height=notices.turn_end_height,
        dims_when_withdrawn=False,  # its own text says what was withdrawn
    ),
    state.Compaction: EntryKind(
        title="Compaction",
        renderer=Imported(f"{_RENDERERS}.messages:CompactionBody"),
        plain_text=compaction.plain_text,
        blocks=compaction.blocks,
        search_text=compaction.search_text,
        is_markdown=True,
        progress=compaction.progress,
        progress_updates=True,
        foldable=True,
        starts_folded=compaction.starts_folded,
        is_error=compaction.has_failed,
        estimated_height=compaction.estimated_height,
    ),
    state.Subagent: EntryKind(
        title="Subagent",
        renderer=Imported(f"{_RENDERERS}.subagent:SubagentBody"),
        plain_text=lambda entry, context: subagent.plain_text(KINDS, entry, context),
        blocks=lambda entry, context: subagent.blocks(KINDS, entry, context),
        search_text=lambda entry, session: subagent.search_text(KINDS, entry, session),
        progress=subagent.progress,
        progress_updates=True,
        transcript=lambda entry: entry.key,
        opens_transcript=True,
        landmark="tool",
        is_error=subagent.has_failed,
        spacing="tight",
        is_running=lambda entry: entry.is_running,
    ),
    state.SessionMessage: EntryKind(
        title="Message between agents",
        renderer=Imported(f"{_RENDERERS}.subagent:message_body"),
        plain_text=subagent.message_lines,
        blocks=subagent.message_blocks,
        search_text=messages.search_text,
        foldable=True,
        starts_folded=subagent.message_starts_folded,
        transcript=subagent.peer_transcript,
        media=lambda message: messages.first_media(message.parts),
        spacing="tight",
    ),
    state.Unrecognised: EntryKind(
        title="Not recognised",
        renderer=Imported(f"{_RENDERERS}.notices:unrecognised_body"),
        plain_text=notices.unrecognised_lines,
        blocks=notices.unrecognised_blocks,
        search_text=notices.unrecognised_search_text,
        progress=lambda entry: f"not recognised: {entry.what}",
        warning=notices.unrecognised_warning,
        foldable=True,
        starts_folded=lambda _: True,
    ),
}


def kind_of(entry: Entry) -> EntryKind:
    """Return the row of `kind_table` that describes the kind of an entry."""
    return KINDS[type(entry)]
