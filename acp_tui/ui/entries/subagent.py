"""Draws a subagent in one or two lines. Its transcript has a screen of its own.

Also draws the messages between agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_kinds.subagent import ICON, counts, duration, last_line, message_label, state_of
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Content, SessionMessage, Subagent
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import limit_lines, wrapped_lines
from acp_tui.ui.drawing.wrap import make_strip, shorten
from acp_tui.ui.entries.content import content_lines
from acp_tui.ui.entries.headline import FOLDED, OPEN, elapsed, headline

if TYPE_CHECKING:
    from textual.strip import Strip


INDENT = 4
UNWRITTEN_STATES = frozenset({"working", "done"})
"""States that are not written in words, because the status icon at the end of the line shows them."""


class SubagentBody:
    """The body of a subagent. Its lines are not cached: they are drawn whenever they are needed.

    The first line has the subagent's name, description, state and duration. The second line has the
    subagent's error, if any, the numbers of its messages and tool calls, and the last line of its transcript.
    """

    def __init__(self, entry: Subagent, context: DrawContext) -> None:
        self._entry = entry
        self._context = context
        self._height = 1 + bool(self._details())

    @property
    def height(self) -> int:
        """The number of lines."""
        return self._height

    def line(self, number: int) -> Strip:
        """Draw one line."""
        return self._headline() if number == 0 else self._second_line()

    def _headline(self) -> Strip:
        entry, context = self._entry, self._context
        palette, state = context.palette, state_of(entry)
        title = [(escape_line(entry.name), palette.tool)]
        if entry.description and entry.description != entry.name:
            title.append((f"  {entry.description}", palette.dim))
        facts = []
        if state.words not in UNWRITTEN_STATES:
            style = {"failed": palette.error, "in_progress": palette.warning}.get(state.status, palette.dim)
            facts.append((state.words, style))
        time = (
            elapsed(entry.began_at, None, context.clock)
            if entry.is_running and entry.began_at
            else duration(entry)
        )
        facts.append((time, palette.dim))
        return headline(ICON, title, facts, context, foldable=False, status=state.status)

    def _details(self) -> list[str]:
        return [text for text in (self._entry.error, counts(self._entry), last_line(self._entry)) if text]

    def _second_line(self) -> Strip:
        palette = self._context.palette
        text = shorten(escape_line(" · ".join(self._details())), self._context.width - INDENT)
        return make_strip([Segment(text, palette.dim)], [Segment(" " * INDENT)])

    def copy_text(self) -> str:
        """Return the name, state and error, the numbers of tool calls and messages, and the last line."""
        return "\n".join([f"{self._entry.name}: {state_of(self._entry).words}", *self._details()])

    def update(self) -> bool:
        """Return False if the number of lines has changed since this body was made: a new body is needed."""
        return self._height == 1 + bool(self._details())


def message_body(entry: SessionMessage, context: DrawContext) -> Body:
    """Draw a message between agents: its sender or recipient, and its content.

    If the message is folded, only the beginning of its text is drawn.
    """
    palette, width = context.palette, context.width
    text = entry.text.strip()
    label = f"{FOLDED if context.folded else OPEN} message {escape_line(message_label(entry))}"
    spans = [Segment(label, palette.dim)]
    if context.folded and text:
        spans.append(Segment(f": {' '.join(text[: 4 * width].split())}", palette.faint))
    room, head = width, []
    for span in spans:
        head.append(Segment(shorten(span.text, max(0, room)), span.style))
        room -= head[-1].cell_length
    lines = [make_strip(head)]
    if not context.folded:
        lines += limit_lines(wrapped_lines(text, palette.text, width), context)
        for part in entry.parts:
            if isinstance(part, Content):
                lines += content_lines(part, context, [Segment("  ")])
    return LinesBody(lines, text)
