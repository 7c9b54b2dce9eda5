"""The entry kind for calls of acp-tui's own tools. The calls are shown like the agent's tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds import tool_call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.entry_kinds.blocks import Block
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import OwnToolCall, Session


def starts_folded(entry: OwnToolCall) -> bool:
    """Return True unless the call failed or has a diff."""
    return tool_call.starts_folded(entry.call)


def has_failed(entry: OwnToolCall) -> bool:
    """Return True if the call has failed."""
    return tool_call.has_failed(entry.call)


def is_running(entry: OwnToolCall) -> bool:
    """Return True until the call has ended."""
    return tool_call.is_running(entry.call)


def progress(entry: OwnToolCall) -> str:
    """Return the line that `acp-tui exec` prints: the title and, once the call has ended, the status."""
    return tool_call.progress(entry.call)


def plain_text(entry: OwnToolCall, context: TextContext) -> Iterable[str]:
    """Return a call as plain text: its title, its file and its content."""
    return tool_call.plain_text(entry.call, context)


def search_text(entry: OwnToolCall, session: Session) -> Iterable[str]:
    """Return the searchable texts of a call: its title, its command, its file and its content."""
    return tool_call.search_text(entry.call, session)


def blocks(entry: OwnToolCall, context: TextContext) -> Iterable[Block]:
    """Return the blocks that show a call in an export."""
    return tool_call.blocks(entry.call, context)


def code(entry: OwnToolCall) -> list[str] | None:
    """Return the code to copy: the new texts of the call's diffs."""
    return tool_call.code(entry.call)


def location(entry: OwnToolCall) -> tuple[str, int | None] | None:
    """Return the path of the file that a call shows, and the line if known; None if no file is shown."""
    return tool_call.location(entry.call)
