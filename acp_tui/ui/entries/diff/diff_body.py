"""The body that draws a diff. Rows are drawn when they become visible."""

from __future__ import annotations

from itertools import chain, groupby, islice, zip_longest
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from acp_tui.diffing import Difference, Row, compare_texts, parse_patch
from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.drawing.wrap import MAX_LINE_LENGTH
from acp_tui.ui.entries.diff.row_renderers import RowRenderer, SplitRenderer, UnifiedRenderer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from textual.strip import Strip

    from acp_tui.session.state import Diff
    from acp_tui.ui.drawing.body import DrawContext

MIN_SPLIT_WIDTH = 120
"""The minimum width, in cells, for showing the old and the new text side by side."""
PREVIEW_ROWS = 40
"""The maximum number of rows of a diff in the transcript."""
LONG_LINE_PREFIX = MAX_LINE_LENGTH // 2
"""How many characters are kept of a line that is too long to be compared."""
MAX_CACHED_ROWS = 400
"""The maximum number of drawn rows kept in memory."""

Text = TypeVar("Text", str, str | None)
Pair = tuple[Row | None, Row | None]
_SIGNS = {"same": " ", "removed": "-", "added": "+"}


def compute_difference(diff: Diff, first: int = 1) -> Difference:
    """Compare the two sides of a diff (cached). `first` is the line number at which both sides begin.

    If `first` is 0, the line number is unknown: rows are numbered from 1, and callers hide the numbers.
    """
    if diff.patch is not None:
        return parse_patch(cut_long_lines(diff.patch))
    return compare_texts(cut_long_lines(diff.old), cut_long_lines(diff.new), first or 1)


def cut_long_lines(text: Text) -> Text:
    """Cut very long lines.

    Comparing and colouring a line of megabytes takes seconds. A cut line ends with a checksum, so that two
    lines that differ only in the omitted part do not become equal.
    """
    if not text or len(text) <= MAX_LINE_LENGTH:
        return text
    return "\n".join(map(_cut_line, text.split("\n")))


def _cut_line(line: str) -> str:
    if len(line) <= MAX_LINE_LENGTH:
        return line
    checksum = crc32(line.encode(errors="surrogatepass"))
    missing = len(line) - LONG_LINE_PREFIX
    return f"{line[:LONG_LINE_PREFIX]} … {missing:,} more characters (checksum {checksum:08x})"


def _more(missing: int) -> str:
    if not missing:
        return "▸ more"
    return "▸ 1 more line" if missing == 1 else f"▸ {missing:,} more lines"


class DiffBody:
    """The body of a diff. Its rows are drawn when they become visible."""

    def __init__(self, diff: Diff, context: DrawContext, *, heading: str = "", first: int = 1) -> None:
        self.diff = diff
        self._difference = compute_difference(diff, first)
        self._numbered = first > 0
        self._renderer = self._make_renderer(context)
        rows = chain(_rows_above(diff, self._difference, heading), self._difference.rows())
        self._rows = list(rows if context.full else islice(rows, PREVIEW_ROWS + 1))
        if not context.full and len(self._rows) > PREVIEW_ROWS:
            shown = PREVIEW_ROWS - 1
            missing = self._difference.line_count - sum(row.is_line for row in self._rows[:shown])
            self._rows[shown:] = [Row("more", _more(missing))]
        self._pairs = (
            list(rows_side_by_side(self._rows))
            if isinstance(self._renderer, SplitRenderer)
            else single_column(self._rows)
        )
        self._heights = Heights()
        self._heights.reset([self._renderer.height(pair) for pair in self._pairs])
        self._drawn: dict[int, list[Strip]] = {}

    def _make_renderer(self, context: DrawContext) -> RowRenderer:
        # If one side is empty, two columns would waste half of the width.
        split = context.width >= MIN_SPLIT_WIDTH and not self._difference.one_sided
        renderer = SplitRenderer if split else UnifiedRenderer
        return renderer(self._difference, self.diff.path, context, numbered=self._numbered)

    @property
    def height(self) -> int:
        """The number of lines, computed without drawing them."""
        return self._heights.total

    def line(self, number: int) -> Strip:
        index, part = self._heights.at(number)
        strips = self._drawn.get(index)
        if strips is None:
            if len(self._drawn) >= MAX_CACHED_ROWS:
                self._drawn.clear()
            strips = self._drawn[index] = self._renderer.strips(self._pairs[index])
        return strips[part]

    def copy_text(self) -> str:
        """Return the diff in unified format."""
        if self.diff.patch is not None:
            return self.diff.patch
        rows = (
            f"{_SIGNS[row.kind]}{row.text}" if row.is_line else f"@@ {row.text} @@"
            for row in self._difference.rows()
        )
        return "\n".join([f"--- {self.diff.path}", f"+++ {self.diff.path}", *rows])

    def update(self) -> bool:
        """Return False, so that the caller makes a new body: a diff is never changed, only replaced."""
        return False


def _rows_above(diff: Diff, difference: Difference, heading: str) -> Iterator[Row]:
    """Yield the rows above the diff: the heading, and notes about the whole file."""
    if heading:
        yield Row("file", heading)
    if diff.line_ends is not None:
        old, new = diff.line_ends
        yield Row("note", f"line endings: {old} → {new}")
    elif diff.patch is None and not (difference.added or difference.removed):
        yield Row("note", "an empty file" if None in (diff.old, diff.new) else "no text changes")


def single_column(rows: Iterable[Row]) -> list[Pair]:
    """Return each row as a pair without a right side."""
    return [(row, None) for row in rows]


def rows_side_by_side(rows: Iterable[Row]) -> Iterator[Pair]:
    """Yield pairs of a left and a right row. In a change, removed and added lines are paired in order."""
    for change, group in groupby(rows, key=lambda row: row.change):
        if change is None:
            for row in group:
                yield (row, row) if row.kind == "same" else (row, None)
        else:
            sides: tuple[list[Row], list[Row]] = [], []
            for row in group:
                sides[row.old is None].append(row)
            yield from zip_longest(*sides)
