"""The block of lines with the five facts about the chosen server; see `server_facts.py`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.entry_labels import format_time
from acp_tui.ui.drawing.wrap import make_strip, shorten, shorten_path, wrap
from acp_tui.ui.screens.mcp.server_list import MARKS, mark_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.geometry import Size

    from acp_tui.ui.screens.mcp.server_facts import Fact
    from acp_tui.ui.theme.palette import Palette

LABEL_CELLS = 13
"""The width of the column with a fact's mark and label."""
MIN_TEXT_CELLS = 16
MIN_ROWS_TO_WRAP = 30
"""In a terminal with fewer rows, each fact is shortened to one line, except for problems."""


class FactLines(Widget):
    """A block of facts, each with its mark, evidence and time. Its height depends on how the texts wrap."""

    DEFAULT_CSS = """
    FactLines { height: auto; max-height: 50%; background: transparent; color: $foreground; }
    """
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._facts: Sequence[Fact] = ()
        self._lines: list[Strip] = []
        self._width = 0
        self._short = False

    def show(self, facts: Sequence[Fact]) -> None:
        """Replace the facts. See `MIN_ROWS_TO_WRAP` for when they are wrapped."""
        self._facts = facts
        self._short = self.app.size.height < MIN_ROWS_TO_WRAP
        self._width = 0
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return len(self._draw(width))

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self._draw(width)
        line = lines[y] if y < len(lines) else Strip([])
        return line.crop_extend(0, width, base).apply_style(base)

    def _draw(self, width: int) -> list[Strip]:
        if width != self._width:
            self._width = width
            self._lines = [line for fact in self._facts for line in self._fact_lines(fact, width)]
        return self._lines

    def _fact_lines(self, fact: Fact, width: int) -> list[Strip]:
        palette = self.palette
        when = f"  {format_time(fact.at, time.time())}" if fact.at is not None else ""
        room = max(MIN_TEXT_CELLS, width - LABEL_CELLS - cell_len(when))
        label = fact.label[: LABEL_CELLS - 3].ljust(LABEL_CELLS - 2)
        lead = [
            Segment(f"{MARKS[fact.state]} ", mark_style(fact.state, palette)),
            Segment(label, palette.dim),
        ]
        style = palette.error if fact.state == "problem" else palette.text
        text = fact.evidence
        if fact.is_path:
            text = shorten_path(text, room)
        elif self._short and fact.state != "problem":
            text = shorten(text, room)
        lines = wrap([Segment(text, style)], room)
        strips = [make_strip(lines[0], lead)] if lines else [Strip(lead)]
        if when:
            gap = width - strips[0].cell_length - cell_len(when)
            strips[0] = Strip([*strips[0], Segment(" " * max(0, gap)), Segment(when, palette.dim)])
        return strips + [make_strip(line, [Segment(" " * LABEL_CELLS)]) for line in lines[1:]]
