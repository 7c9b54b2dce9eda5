"""A scrollable view of bodies, and bodies that draw only the visible lines of a text of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.session.safe_text import escape_controls
from acp_tui.ui.drawing.body import Body, Heights
from acp_tui.ui.drawing.line_style import restyle
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, hard_wrap_count, make_strip
from acp_tui.ui.theme.palette import Spans, current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual.selection import Selection


if TYPE_CHECKING:
    BodyFactory = Callable[[int], Sequence[Body]]

MIN_WIDTH = 20


class BodyScroller(ScrollView):
    """Shows bodies one below the other. Draws visible lines only. The screen binds the keys."""

    DEFAULT_CSS = """
    BodyScroller {
        background: transparent;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
    }
    """

    def __init__(self, make: BodyFactory, *, id: str | None = None) -> None:  # noqa: A002  # as in Textual
        super().__init__(id=id)
        self._make = make
        self._width = 0
        self._bodies: list[Body] = []
        self._heights = Heights()
        self._row_after_resize: int | None = None

    def show(self, make: BodyFactory) -> None:
        """Replace the bodies. `make` gets the width and returns the new bodies."""
        self._make = make
        self._width = 0
        if self.inner_width:
            self.height_at(self.inner_width)
        self.refresh(layout=True)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.show(self._make)

    def update(self) -> None:
        """Update bodies that have grown. If the view is at the end, it stays at the end."""
        at_end = self.scroll_offset.y >= self.max_scroll_y
        if not all(body.update() for body in self._bodies):
            self._bodies = list(self._make(self._width))
        self._heights.reset([body.height for body in self._bodies])
        self.virtual_size = Size(self._width, self._heights.total)
        if at_end:
            self.call_after_refresh(self.scroll_end, animate=False)
        self.refresh()

    def height_of(self, count: int) -> int:
        """Return the height of the first `count` bodies."""
        return sum(body.height for body in self._bodies[:count])

    def go_to_row(self, row: int) -> None:
        """Scroll to a row. If the widget is about to become lower, the scrolling ends after the resize."""
        self._row_after_resize = row if row > self.max_scroll_y else None
        self.scroll_to(y=row, animate=False, force=True)

    @property
    def inner_width(self) -> int:
        """The width without the scrollbar, in cells."""
        return self.scrollable_content_region.width

    def height_at(self, width: int) -> int:
        """Return the height of all bodies at a width, and use this width from now on."""
        width = max(MIN_WIDTH, width)
        if width != self._width:
            self._width = width
            self._bodies = list(self._make(width))
            self._heights.reset([body.height for body in self._bodies])
            self.virtual_size = Size(width, self._heights.total)
        return self._heights.total

    def on_resize(self) -> None:
        """Wrap lines at the new width."""
        self.height_at(self.inner_width)
        if self._row_after_resize is not None:
            self.scroll_to(y=self._row_after_resize, animate=False, force=True)
            self._row_after_resize = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        row, width, style = self.scroll_offset.y + y, self.inner_width, self.rich_style
        if not self._bodies or row >= self._heights.total:
            return Strip.blank(width, style)
        strip = self._line(row).crop_extend(0, width, style).apply_style(style)
        if (selection := self.text_selection) is not None and (span := selection.get_span(row)) is not None:
            start, end = span
            end = len(strip.text.rstrip()) if end == -1 else end
            strip = restyle(strip, start, end, self.screen.get_component_rich_style("screen--selection"))
        return strip.apply_offsets(0, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as drawn, and the line end that follows it."""
        lines: list[str] = []
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._heights.total - 1
        for row in range(first, min(last + 1, self._heights.total)):
            span = selection.get_span(row)
            if span is not None:
                start, end = span
                lines.append(self._line(row).text[start : None if end == -1 else end].rstrip())
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002  # Textual's signature
        """Redraw with the changed selection."""
        self.refresh()

    def copy_text(self) -> str:
        """Return the source text of all bodies."""
        return "\n\n".join(text for body in self._bodies if (text := body.copy_text()))

    def _line(self, row: int) -> Strip:
        number, line = self._heights.at(row)
        return self._bodies[number].line(line)


class LongText:
    """Wraps lines at the width, even inside words. The text must be safe to display."""

    def __init__(self, text: str, style: Style, width: int) -> None:
        self._text = text
        self._style = style
        self._width = width
        self._source = text.split("\n")
        self._last_wrapped: tuple[int, list[Spans]] = (-1, [])  # cached, as one line may fill many screens
        self._heights = Heights()
        self._heights.reset([hard_wrap_count(line, width) for line in self._source])

    @property
    def height(self) -> int:
        """The number of wrapped lines."""
        return self._heights.total

    def line(self, number: int) -> Strip:
        index, part = self._heights.at(number)
        if index != self._last_wrapped[0]:
            segment = Segment(self._source[index], self._style)
            self._last_wrapped = index, hard_wrap([segment], self._width)
        return make_strip(self._last_wrapped[1][part])

    def copy_text(self) -> str:
        """Return the text without wrapping."""
        return self._text

    def update(self) -> bool:
        """Return False: this body cannot be updated, so the caller must make a new body."""
        return False


GUTTER = 3
"""The number of cells beside the line number: one for a mark before it, and two blanks after it."""


class NumberedText:
    """Text whose lines are wrapped at the width, even inside words. The text can contain any character."""

    def __init__(self, text: str, path: str, width: int, *, marked: int | None = None) -> None:
        """`path` determines the syntax. `marked` is the line to mark, counted from 1."""
        self._text = text
        self._marked = marked
        self._source = [expand_tabs(line) for line in escape_controls(text.removesuffix("\n")).split("\n")]
        lines = dict(enumerate(self._source, 1))
        from acp_tui.ui.entries.diff import SyntaxColours

        self._colours = SyntaxColours(lambda: lines, path, current_palette().syntax)
        self._digits = len(str(len(self._source)))
        self._room = max(1, width - self._digits - GUTTER)
        self._last_wrapped: tuple[int, list[Spans]] = (-1, [])  # cached, as one line may fill many screens
        self._heights = Heights()
        self._heights.reset([hard_wrap_count(line, self._room) for line in self._source])

    @property
    def height(self) -> int:
        """The number of wrapped lines."""
        return self._heights.total

    def row_of(self, line: int) -> int:
        """Return the row in which a line begins. A `line` past the end stands for the last line."""
        return self._heights.top(max(0, min(line, len(self._source)) - 1))

    def line(self, number: int) -> Strip:
        """Draw one row: a whole line, or a part of a wrapped line."""
        palette = current_palette()
        index, part = self._heights.at(number)
        if index != self._last_wrapped[0]:
            spans = self._colours.spans(index + 1, self._source[index])
            self._last_wrapped = index, hard_wrap(spans, self._room)
        is_marked = index + 1 == self._marked
        mark = "▸" if is_marked and part == 0 else " "
        label = str(index + 1) if part == 0 else ""
        look = palette.warning if is_marked else palette.faint
        gutter = Segment(f"{mark}{label:>{self._digits}}  ", look)
        return make_strip(self._last_wrapped[1][part], [gutter])

    def copy_text(self) -> str:
        """Return the text without numbers."""
        return self._text

    def update(self) -> bool:
        """Return False: this body cannot be updated, so the caller must make a new one."""
        return False
