"""One entry in the layout, with its body once it has been near the viewport."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_tui.entry_display import default_folded
from acp_tui.session.state import (
    AgentMessage,
    Message,
    Notice,
    Permission,
    Terminal,
    Thought,
    ToolCall,
    TurnEnd,
)

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Entry
    from acp_tui.ui.drawing.body import Body

COMPACT_KINDS = (ToolCall, Notice, Permission, Terminal, Thought)
"""Kinds drawn without a blank line between them, unless one of them shows more than its title."""
REMARK_KINDS = (Notice, Permission)
"""Kinds that comment on the entry above them."""


@dataclass(slots=True)
class EntryBlock:
    """One entry in the layout."""

    entry: Entry
    folded: bool | None = None  # the user's wish; None: as its kind is
    body: Body | None = None  # None: never near the screen, or outdated; the height is an estimate
    gap: int = 0  # blank lines before it
    drawn: dict[int, tuple[Strip, Strip]] = field(default_factory=dict)  # a body's line, and as it is shown

    def forget(self) -> None:
        """Drop the body after a change of width, theme or fold."""
        self.body = None
        self.drawn.clear()


def gap_between(before: Entry | None, entry: Entry) -> int:
    """Blank lines above an entry. Folding by the user does not change them."""
    if not (isinstance(before, COMPACT_KINDS) and isinstance(entry, COMPACT_KINDS)):
        return 1
    if isinstance(entry, REMARK_KINDS):
        return 0
    return 0 if _is_short(before) and _is_short(entry) else 1


def _is_short(entry: Entry) -> bool:
    """Return True if the entry takes one or two lines."""
    return isinstance(entry, (Thought, *REMARK_KINDS)) or default_folded(entry)


def estimated_height(entry: Entry, width: int) -> int:
    """Estimate the height of an entry that has not been drawn. Cheap rather than exact."""
    if isinstance(entry, Thought):
        return 1
    if isinstance(entry, Message):
        length = sum(getattr(part, "length", 40) for part in entry.parts)
        per_line = max(20, width - 4) * (2 if isinstance(entry, AgentMessage) else 3) // 3
        return 1 + length // per_line
    if isinstance(entry, ToolCall):
        return 1 if entry.kind in ("read", "search", "think") else 8
    if isinstance(entry, TurnEnd):
        return 0 if entry.stop_reason == "end_turn" and not entry.empty else 1
    return 1
