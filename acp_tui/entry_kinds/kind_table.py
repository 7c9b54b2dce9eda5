"""The kinds of entries. A new kind needs an event, a reducer and a row here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds import messages, notices, plan, requests, terminal, tool_call
from acp_tui.entry_kinds.imported import Imported
from acp_tui.entry_kinds.kind import EntryKind
from acp_tui.session import state

if TYPE_CHECKING:
    from acp_tui.session.state import Entry

_RENDERERS = "acp_tui.ui.entries"

KINDS: dict[type[Entry], EntryKind] = {
    state.UserMessage: EntryKind(
        title="Your prompt",
        renderer=Imported(f"{_RENDERERS}.user_message:body"),
        plain_text=messages.prompt_lines,
        blocks=messages.prompt_blocks,
        search_text=messages.search_text,
        code=Imported(f"{_RENDERERS}.agent_message:code_blocks"),
        media=messages.first_media,
        landmark="prompt",
        estimated_height=messages.prompt_height,
    ),
    state.AgentMessage: EntryKind(
        title="Answer",
        renderer=Imported(f"{_RENDERERS}.agent_message:body"),
        plain_text=messages.answer_lines,
        blocks=messages.answer_blocks,
        search_text=messages.search_text,
        is_markdown=True,
        code=Imported(f"{_RENDERERS}.agent_message:code_blocks"),
        media=messages.first_media,
        estimated_height=messages.answer_height,
    ),
    state.Thought: EntryKind(
        title="Thought",
        renderer=Imported(f"{_RENDERERS}.thought:body"),
        plain_text=messages.thought_lines,
        blocks=messages.thought_blocks,
        search_text=messages.search_text,
        is_markdown=True,
        foldable=True,
        starts_folded=messages.is_over,
        code=Imported(f"{_RENDERERS}.agent_message:code_blocks"),
        media=messages.first_media,
        spacing="tight",
        is_running=messages.is_growing,
    ),
    state.ToolCall: EntryKind(
        title="Tool call",
        renderer=Imported(f"{_RENDERERS}.tool_call.tool_call:body"),
        plain_text=tool_call.plain_text,
        blocks=tool_call.blocks,
        search_text=tool_call.search_text,
        progress=tool_call.progress,
        progress_updates=True,
        foldable=True,
        starts_folded=tool_call.starts_folded,
        code=tool_call.code,
        location=tool_call.location,
        media=tool_call.first_media,
        landmark="tool",
        is_error=tool_call.has_failed,
        spacing="compact",
        estimated_height=tool_call.estimated_height,
        is_running=tool_call.is_running,
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
        renderer=Imported(f"{_RENDERERS}.permission:body"),
        plain_text=requests.permission_lines,
        blocks=requests.permission_blocks,
        search_text=requests.permission_search_text,
        spacing="remark",
    ),
    state.Elicitation: EntryKind(
        title="Question",
        renderer=Imported(f"{_RENDERERS}.elicitation:body"),
        plain_text=requests.elicitation_lines,
        blocks=requests.elicitation_blocks,
        search_text=requests.elicitation_search_text,
    ),
    state.Terminal: EntryKind(
        title="Command",
        renderer=Imported(f"{_RENDERERS}.terminal.terminal:body"),
        plain_text=terminal.plain_text,
        blocks=terminal.blocks,
        search_text=terminal.search_text,
        foldable=True,
        code=terminal.code,
        spacing="compact",
        is_running=terminal.is_running,
        shown_in=terminal.call_of,
    ),
    state.Notice: EntryKind(
        title="Notice",
        renderer=Imported(f"{_RENDERERS}.notice:body"),
        plain_text=notices.notice_lines,
        blocks=notices.notice_blocks,
        search_text=notices.notice_search_text,
        progress=notices.notice_progress,
        starts_folded=notices.notice_starts_folded,
        is_error=notices.is_error,
        spacing="remark",
    ),
    state.TurnEnd: EntryKind(
        title="End of the turn",
        renderer=Imported(f"{_RENDERERS}.turn_end:body"),
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
        renderer=Imported(f"{_RENDERERS}.compaction:body"),
        plain_text=notices.compaction_lines,
        blocks=notices.compaction_blocks,
        search_text=notices.compaction_search_text,
        foldable=True,
        starts_folded=notices.always_folded,
    ),
    state.Unrecognised: EntryKind(
        title="Not recognised",
        renderer=Imported(f"{_RENDERERS}.unrecognised:body"),
        plain_text=notices.unrecognised_lines,
        blocks=notices.unrecognised_blocks,
        search_text=notices.unrecognised_search_text,
        foldable=True,
        starts_folded=notices.always_folded,
    ),
}
