"""Diffs, side by side or as one column, with highlighted words and syntax colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, pairwise, zip_longest
from typing import TYPE_CHECKING, Protocol, TypeVar
from zlib import crc32

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.diffing import Difference, Row, compare_texts, parse_patch
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line
from acp_tui.ui.drawing.body import DrawContext, Heights, expander, more_lines
from acp_tui.ui.drawing.wrap import (
    MAX_LINE_LENGTH,
    TAB_MARK,
    TAB_WIDTH,
    expand_tabs,
    join_graphemes,
    shorten,
    shorten_path,
    wrap_exact,
    wrap_exact_count,
)
from acp_tui.ui.theme.palette import NOT_DIM

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.session.state import Diff


CHUNK_LINES = 32
"""The number of lines that are coloured at a time."""
LEAD_LINES = 24
"""How many lines above a chunk are lexed, too, in case a string or comment in the chunk begins there."""
MAX_COLOURED_LENGTH = 2_000
"""Lines with more characters, such as minified code, are not coloured."""
MAX_CACHED_CHUNKS = 128
"""How many coloured chunks are cached. They are reused when a diff is redrawn after a hunk was accepted."""
_cache: dict[tuple[str, str, int], tuple[Mapping[str, Style], list[list[Segment]]]] = {}
INDENT = 4
MIN_TEXT_WIDTH = 4
SIGNS = {"same": " ", "removed": "-", "added": "+"}
GAP = "⋯"
RowPair = tuple[Row | None, Row | None]
MIN_SPLIT_WIDTH = 120
"""The minimum width, in cells, for showing the old and the new text side by side."""
PREVIEW_ROWS = 40
"""The maximum number of rows of a diff in the transcript."""
LONG_LINE_PREFIX = MAX_LINE_LENGTH // 2
"""How many characters are kept of a line that is too long to be compared."""
MAX_CACHED_ROWS = 400
"""The maximum number of drawn rows kept in memory."""
Text = TypeVar("Text", str, str | None)


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
            self._rows[shown:] = [Row("more", more_lines(missing))]
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
            f"{SIGNS[row.kind]}{row.text}" if row.is_line else f"@@ {row.text} @@"
            for row in self._difference.rows()
        )
        return "\n".join([f"--- {self.diff.path}", f"+++ {self.diff.path}", *rows])

    def update(self) -> bool:
        """Return False, so that the caller makes a new body: a diff is never changed, only replaced."""
        return False


def _highlight(code: str, path: str, styles: Mapping[str, Style]) -> list[list[Segment]]:
    """Return the coloured lines of `code` (cached). `path` determines the language."""
    from acp_tui.ui.theme.syntax import highlight, language_of  # loads Pygments

    key = (code, path, id(styles))
    cached = _cache.get(key)
    if cached is None or cached[0] is not styles:
        if len(_cache) >= MAX_CACHED_CHUNKS:
            _cache.clear()
        cached = _cache[key] = (styles, highlight(code, language_of(path), styles))
    return cached[1]


class SyntaxColours:
    """The coloured lines of one side of a diff."""

    def __init__(
        self, lines: Callable[[], Mapping[int, str]], path: str, styles: Mapping[str, Style]
    ) -> None:
        """`styles` is the `syntax` of a palette."""
        self._lines = lines
        self._path = path
        self._styles = styles
        self._chunks: dict[int, dict[int, list[Segment]]] = {}

    def spans(self, number: int, text: str) -> list[Segment]:
        """Return line `number` with colours.

        Return `text` without colours if the line's text is not `text`, if `text` is too long, or if there are
        no styles.
        """
        if not self._styles or len(text) > MAX_COLOURED_LENGTH:
            return [Segment(text)]
        chunk = (number - 1) // CHUNK_LINES
        if chunk not in self._chunks:
            self._chunks[chunk] = self._colour(chunk * CHUNK_LINES + 1)
        spans = self._chunks[chunk].get(number)
        # The line numbers in a patch may be wrong: make sure that the row's own text is shown.
        if spans is None or "".join(span.text for span in spans) != text:
            return [Segment(text)]
        return spans

    def _colour(self, first: int) -> dict[int, list[Segment]]:
        lines = self._lines()
        numbers = range(max(1, first - LEAD_LINES), first + CHUNK_LINES)
        texts = [lines.get(number, "") for number in numbers]
        code = "\n".join(text if len(text) <= MAX_COLOURED_LENGTH else "" for text in texts)
        coloured = _highlight(f"{code}\n", self._path, self._styles)
        return {number: spans for number, spans in zip(numbers, coloured, strict=True) if number >= first}


class RowRenderer(Protocol):
    """Draws the rows of a diff in one layout."""

    def __init__(
        self, difference: Difference, path: str, context: DrawContext, *, numbered: bool
    ) -> None: ...

    def height(self, pair: RowPair) -> int:
        """Return the number of screen lines that a pair of rows takes."""

    def strips(self, pair: RowPair) -> list[Strip]:
        """Draw a pair of rows as screen lines."""


class _DiffColumn:
    """A column, `width` cells wide, that shows lines of a file with their numbers and a `+` or `-`."""

    def __init__(
        self,
        difference: Difference,
        path: str,
        context: DrawContext,
        width: int,
        *,
        numbered: bool,
        old_side: bool = False,
    ) -> None:
        palette = self._palette = context.palette
        self._numbered = numbered
        self._old_side = old_side  # number unchanged lines as in the old text
        self._digits = max(2, len(str(difference.last_number)))
        self._gutter = self._digits + 3
        self._text_width = max(MIN_TEXT_WIDTH, width - self._gutter)
        self._width = width
        self._old = SyntaxColours(lambda: difference.old, path, palette.syntax)
        self._new = SyntaxColours(lambda: difference.new, path, palette.syntax)
        self._looks = {
            "same": (palette.diff_context, palette.diff_number),
            "removed": (palette.diff_removed, palette.diff_removed_mark),
            "added": (palette.diff_added, palette.diff_added_mark),
        }

    def height(self, row: Row) -> int:
        if row.kind not in self._looks:
            return 1
        return wrap_exact_count(escape_invisible(row.text), self._text_width)

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
            padded.append(list(Strip([*gutter, *line]).extend_cell_length(self._width, base)))
        return padded

    def _is_old(self, row: Row) -> bool:
        return row.new is None or (self._old_side and row.old is not None)

    def _remark(self, row: Row) -> list[Segment]:
        """Draw a remark about the line above, such as a missing newline at the end of the file."""
        text = shorten(f"{' ' * (self._digits + 1)}\\ {escape_invisible(row.text)}", self._width)
        remark = Strip([Segment(text, self._palette.diff_fold)])
        return list(remark.extend_cell_length(self._width, self._palette.diff_context))

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
            text = _without_tabs(escape_invisible(text), column, visibly=marked)
            column += cell_len(text)
            segments.append(Segment(text, look + word if marked else look))
        return join_graphemes(segments)


class UnifiedRenderer:
    """Draws a unified diff: in one column, with added lines below the removed ones."""

    def __init__(self, difference: Difference, path: str, context: DrawContext, *, numbered: bool) -> None:
        self._context = context
        width = context.width - INDENT
        self._column = _DiffColumn(difference, path, context, width, numbered=numbered)

    def height(self, pair: RowPair) -> int:
        """Return the number of lines that the pair's only row takes when wrapped."""
        row, _ = pair
        assert row is not None
        return self._column.height(row)

    def strips(self, pair: RowPair) -> list[Strip]:
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
        room = context.width - INDENT - 1
        self._blank = left, right = room // 2, room - room // 2
        self._left = _DiffColumn(difference, path, context, left, numbered=numbered, old_side=True)
        self._right = _DiffColumn(difference, path, context, right, numbered=numbered)

    def height(self, pair: RowPair) -> int:
        """Return the height of the taller side."""
        left, right = pair
        return max(self._left.height(left) if left else 1, self._right.height(right) if right else 1)

    def strips(self, pair: RowPair) -> list[Strip]:
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
    palette, text = context.palette, escape_invisible_line(row.text)
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


def _rows_above(diff: Diff, difference: Difference, heading: str) -> Iterator[Row]:
    """Yield the rows above the diff: the heading, and notes about the whole file."""
    if heading:
        yield Row("file", heading)
    if diff.line_ends is not None:
        old, new = diff.line_ends
        yield Row("note", f"line endings: {old} → {new}")
    elif diff.patch is None and not (difference.added or difference.removed):
        yield Row("note", "an empty file" if None in (diff.old, diff.new) else "no text changes")


def single_column(rows: Iterable[Row]) -> list[RowPair]:
    """Return each row as a pair without a right side."""
    return [(row, None) for row in rows]


def rows_side_by_side(rows: Iterable[Row]) -> Iterator[RowPair]:
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
