"""Two renderers of diff rows: unified, and side by side."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.session.text.invisible import reveal, reveal_line
from acp_tui.ui.drawing.body import expander
from acp_tui.ui.drawing.wrap import (
    TAB_MARK,
    TAB_WIDTH,
    expand_tabs,
    join_graphemes,
    padded_strip,
    shorten,
    shorten_path,
    wrap_exact,
    wrap_exact_count,
)
from acp_tui.ui.entries.diff.syntax_colours import SyntaxColours
from acp_tui.ui.theme.component_style import NOT_DIM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style

    from acp_tui.diffing import Difference, Row
    from acp_tui.ui.drawing.body import DrawContext
    from acp_tui.ui.theme.palette import Palette

INDENT = 4
MIN_TEXT_WIDTH = 4
SIGNS = {"removed": "-", "added": "+"}
GAP = "⋯"

Pair = tuple["Row | None", "Row | None"]


class RowRenderer(Protocol):
    """Draws the rows of a diff in one layout."""

    def __init__(
        self, difference: Difference, path: str, context: DrawContext, *, numbered: bool
    ) -> None: ...

    def height(self, pair: Pair) -> int:
        """Return the number of screen lines that a pair of rows takes."""

    def strips(self, pair: Pair) -> list[Strip]:
        """Draw a pair of rows as screen lines."""


class _Column:
    """A column, `width` cells wide, that shows lines of a file with their numbers and a `+` or `-`."""

    def __init__(
        self,
        difference: Difference,
        path: str,
        palette: Palette,
        width: int,
        *,
        numbered: bool,
        old_side: bool = False,
    ) -> None:
        self._palette = palette
        self._numbered = numbered
        self._old_side = old_side  # number unchanged lines as in the old text
        self._digits = max(2, len(str(difference.last_number)))
        self._gutter = self._digits + 3
        self._text_width = max(MIN_TEXT_WIDTH, width - self._gutter)
        self._width = width
        self._old = SyntaxColours(lambda: difference.old, path, palette)
        self._new = SyntaxColours(lambda: difference.new, path, palette)
        self._looks = {
            "same": (palette.diff_context, palette.diff_number),
            "removed": (palette.diff_removed, palette.diff_removed_mark),
            "added": (palette.diff_added, palette.diff_added_mark),
        }

    def height(self, row: Row) -> int:
        if row.kind not in self._looks:
            return 1
        return wrap_exact_count(reveal(row.text), self._text_width)

    def lines(self, row: Row | None) -> list[list[Segment]]:
        """Draw a row as screen lines padded to the width of the column; a blank line if `row` is None."""
        palette = self._palette
        if row is None:
            return [[Segment(" " * self._width, palette.diff_context)]]
        if row.kind not in self._looks:
            return [self._remark(row)]
        base, mark = self._looks[row.kind]
        number = row.old if self._is_old(row) else row.new
        lines = wrap_exact(self._text(row, base), self._text_width)
        padded: list[list[Segment]] = []
        for at, line in enumerate(lines):
            label = f"{number if at == 0 and self._numbered else '':>{self._digits}}"
            sign = SIGNS.get(row.kind, " ") if at == 0 else " "
            gutter = [Segment(label, mark), Segment(f" {sign} ", mark)]
            padded.append(list(padded_strip([*gutter, *line], self._width, base)))
        return padded

    def _is_old(self, row: Row) -> bool:
        return row.new is None or (self._old_side and row.old is not None)

    def _remark(self, row: Row) -> list[Segment]:
        """Draw a remark about the line above, such as a missing newline at the end of the file."""
        text = shorten(f"{' ' * (self._digits + 1)}\\ {reveal(row.text)}", self._width)
        return list(
            padded_strip([Segment(text, self._palette.diff_fold)], self._width, self._palette.diff_context)
        )

    def _text(self, row: Row, base: Style) -> list[Segment]:
        """Return the row's text with syntax colours, highlighted changed words and expanded tabs.

        Stand-ins are shown for invisible characters, because a line can differ only in one of them.
        """
        colours, number = (self._old, row.old) if self._is_old(row) else (self._new, row.new)
        assert number is not None
        marks = row.change.marks(row) if row.change is not None else []
        word = self._palette.diff_added_word if row.kind == "added" else self._palette.diff_removed_word
        word += NOT_DIM  # the colours of comments may be dim
        segments: list[Segment] = []
        column = 0
        for text, style, marked in _marked(colours.spans(number, row.text), marks):
            look = base + style if style else base
            text = _without_tabs(reveal(text), column, visibly=marked)
            column += cell_len(text)
            segments.append(Segment(text, look + word if marked else look))
        return join_graphemes(segments)


class UnifiedRenderer:
    """Draws a unified diff: in one column, with added lines below the removed ones."""

    def __init__(self, difference: Difference, path: str, context: DrawContext, *, numbered: bool) -> None:
        self._context = context
        width = context.width - INDENT
        self._column = _Column(difference, path, context.palette, width, numbered=numbered)

    def height(self, pair: Pair) -> int:
        """Return the number of lines that the pair's only row takes when wrapped."""
        row, _ = pair
        assert row is not None
        return self._column.height(row)

    def strips(self, pair: Pair) -> list[Strip]:
        """Draw the pair's only row. The background of a changed or unchanged line reaches the right edge."""
        row, _ = pair
        assert row is not None
        if row.change is None and row.kind != "same":
            return [annotation_strip(row, self._context)]
        return [Strip([Segment(" " * INDENT), *line]) for line in self._column.lines(row)]


class SplitRenderer:
    """Draws a diff side by side: the old text on the left, the new text on the right."""

    def __init__(self, difference: Difference, path: str, context: DrawContext, *, numbered: bool) -> None:
        self._context = context
        palette, room = context.palette, context.width - INDENT - 1
        self._blank = left, right = room // 2, room - room // 2
        self._left = _Column(difference, path, palette, left, numbered=numbered, old_side=True)
        self._right = _Column(difference, path, palette, right, numbered=numbered)

    def height(self, pair: Pair) -> int:
        """Return the height of the taller side."""
        left, right = pair
        return max(self._left.height(left) if left else 1, self._right.height(right) if right else 1)

    def strips(self, pair: Pair) -> list[Strip]:
        """Draw both sides of a pair. The side with fewer screen lines is padded with blank lines."""
        left, right = pair
        if left is not None and left.change is None and left.kind != "same":
            return [annotation_strip(left, self._context)]
        lines = self._left.lines(left), self._right.lines(right)
        base = self._context.palette.diff_context
        strips: list[Strip] = []
        for at in range(max(map(len, lines))):
            halves = [
                side[at] if at < len(side) else [Segment(" " * blank, base)]
                for side, blank in zip(lines, self._blank, strict=True)
            ]
            border = Segment("│", self._context.palette.faint)
            strips.append(Strip([Segment(" " * INDENT), *halves[0], border, *halves[1]]))
        return strips


def annotation_strip(row: Row, context: DrawContext) -> Strip:
    """Draw a row that is not a line of the file, such as a file name, a gap or a note."""
    room = context.width - INDENT
    palette, text = context.palette, reveal_line(row.text)
    if row.kind == "file":
        return Strip([Segment(" " * INDENT), Segment(shorten_path(text, room), palette.strong)])
    text = shorten(f"{GAP} {text}" if row.kind == "gap" else text, room)
    word = (expander if row.kind == "more" else Segment)(text, palette.diff_fold)
    return Strip([Segment(" " * INDENT), word])


def _marked(
    spans: Sequence[Segment], marks: Sequence[tuple[int, int]]
) -> list[tuple[str, Style | None, bool]]:
    """Split the spans at the ranges in `marks`.

    Return the text and style of each piece, and whether the piece is inside one of the ranges.
    """
    if not marks:
        return [(text, style, False) for text, style, _ in spans]
    edges = sorted({edge for mark in marks for edge in mark})
    starts = dict(marks)
    pieces: list[tuple[str, Style | None, bool]] = []
    at, until = 0, 0  # `until`: the end of the current mark
    for text, style, _ in spans:
        end = at + len(text)
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for start, stop in pairwise(cuts):
            until = starts.get(start, until)
            pieces.append((text[start - at : stop - at], style, start < until))
        at = end
    return pieces


def _without_tabs(text: str, column: int, *, visibly: bool) -> str:
    """Expand each tab to spaces or, if `visibly` is true, to an arrow and spaces.

    The text begins in cell `column` of its line.
    """
    if "\t" not in text or not visibly:
        return expand_tabs(text, column)
    parts: list[str] = []
    for number, part in enumerate(text.split("\t")):
        if number:
            spaces = TAB_WIDTH - column % TAB_WIDTH
            parts.append(TAB_MARK.ljust(spaces))
            column += spaces
        parts.append(part)
        column += cell_len(part)
    return "".join(parts)
