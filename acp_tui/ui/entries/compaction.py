"""Draws a compaction of the agent's context: status, error and, unless the entry is folded, the summary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import compaction_words
from acp_tui.ui.drawing.text_layout import hanging_lines, short_hanging_lines
from acp_tui.ui.entries.headline import FOLDED, OPEN
from acp_tui.ui.entries.messages import MessageParts, muted

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Compaction
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.entries.messages import PartPosition


def body(entry: Compaction, context: DrawContext) -> Body:
    return CompactionBody(entry, context)


class CompactionBody:
    """The body of a compaction: the status, the error if any, and the summary, which is Markdown.

    While the compaction is folded, the summary is not parsed.
    """

    def __init__(self, entry: Compaction, context: DrawContext) -> None:
        self._entry = entry
        self._shown = (compaction_words(entry), entry.error)
        self._parts = entry.parts
        self._head = _head(entry, context)
        self._summary: MessageParts | None = None
        if entry.parts and not context.folded:
            bar = [Segment("│ ", context.palette.faint)]
            self._summary = MessageParts(entry, replace(context, palette=muted(context.palette)), bar)

    def can_fold(self) -> bool:
        """Return True if there is text to fold."""
        return bool(self._entry.parts)

    @property
    def height(self) -> int:
        """The number of lines: the status, the error and the summary."""
        return len(self._head) + (self._summary.height if self._summary is not None else 0)

    def settle(self, first: int, last: int) -> None:
        """Lay out lines `first` to `last`, so that their height is exact and no longer an estimate."""
        above = len(self._head)
        if self._summary is not None and last >= above:
            self._summary.settle(max(0, first - above), last - above)

    def line(self, number: int) -> Strip:
        if number < len(self._head) or self._summary is None:
            return self._head[number]
        return self._summary.line(number - len(self._head))

    def copy_text(self) -> str:
        """Return the status, the error and the summary."""
        entry = self._entry
        return "\n".join(filter(None, (compaction_words(entry), entry.error, entry.text)))

    def update(self) -> bool:
        """Draw text appended to the summary.

        Return False if a new body is needed, because anything else changed or no summary was drawn before.
        """
        entry = self._entry
        same = self._shown == (compaction_words(entry), entry.error) and self._parts is entry.parts
        return same and self._summary is not None and self._summary.update()

    def position_at(self, line: int) -> PartPosition:
        """Return a position that still denotes the same line after heights above that line have changed."""
        above = len(self._head)
        inside = line >= above and self._summary is not None
        return self._summary.position_at(line - above) if inside and self._summary else (-1, (0, line))

    def line_at(self, place: PartPosition) -> int:
        """Return the current number of the line that a position from `position_at` denotes."""
        part, (_, row) = place
        return len(self._head) + self._summary.line_at(place) if part >= 0 and self._summary else row


def _head(entry: Compaction, context: DrawContext) -> list[Strip]:
    palette = context.palette
    sign = (FOLDED if context.folded else OPEN) if entry.parts else "·"
    style = palette.error if entry.status == "failed" else palette.thought
    lines = hanging_lines(
        [Segment(f"{sign} ", style)], [Segment(compaction_words(entry), style)], context.width
    )
    if entry.error:
        lead = [Segment("  ")]
        lines += short_hanging_lines(lead, [Segment(" ".join(entry.error.split()), palette.error)], context)
    return lines
