"""Draws only the cells that differ from what the terminal shows.

Textual 8.2.8 writes each widget that may have changed as a whole. While text streams, this is the whole
conversation in every frame, 15 kB of which most is already on the screen, one row further down. `FrameDiff`
remembers what the terminal shows, moves rows that have only scrolled with a scroll region, and writes the
remaining differences.

Terminals disagree about the width of some characters, such as emoji of several code points. A row with such
characters is written as a whole, and the cursor is positioned again after each of them.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import repeat
from operator import ne
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast
from unicodedata import category
from urllib.parse import quote

from rich.cells import cell_len, split_graphemes
from rich.color import ColorSystem
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

from acp_tui.session.safe_text import visible_row

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment
    from rich.style import Style


def safe_text_and_style(segment: Segment) -> tuple[str, Style | None]:
    """Return the text with control characters made visible, and the style with a safe link."""
    text, style, _ = segment
    return text if text.isprintable() else visible_row(text), _with_safe_link(style)


def _with_safe_link(style: Style | None) -> Style | None:
    """Return the style with its link percent-encoded if necessary: OSC 8 accepts only printable ASCII."""
    link = style._link if style is not None else None
    if style is None or link is None or (link.isascii() and link.isprintable()):
        return style
    return style.update_link("".join(_encode(char) for char in link))


def _encode(char: str) -> str:
    return char if char.isprintable() else quote(char, errors="replace")


Cell: TypeAlias = tuple[str, str]
"""The text of a cell and the escape sequences of its style.

The first cell of a wide character has its text, the others have an empty string.
"""
BLANK: Cell = (" ", "\x1b[0m")
UNKNOWN: Cell = ("\0", "")
"""A cell of which nobody knows what the terminal shows in it. Differs from every cell that is drawn."""
LINK_END = "\x1b]8;;\x1b\\"
MOVE_LENGTH = 8
"""The usual length of an escape sequence that moves the cursor. Shorter gaps between changes are written."""
MIN_SCROLLED_ROWS = 3
MIN_SCROLL_WIDTH = 10
"""Narrower pieces of rows, such as scrollbars, do not tell how far the screen has scrolled."""


class ScreenPiece(NamedTuple):
    """A part of a row that belongs to one widget."""

    x: int
    strip: Strip


class Scroll(NamedTuple):
    """Rows `top` to `bottom`, inclusive, move up by `distance` rows, or down if it is negative."""

    top: int
    bottom: int
    distance: int


class FrameDiff:
    """What the terminal shows, and the output that changes it into the next frame."""

    def __init__(self) -> None:
        self._width = 0
        self._rows: list[list[Cell]] = []
        self._drawn: dict[int, list[ScreenPiece]] = {}  # what was last drawn on each row

    def forget(self) -> None:
        """Draw the next frame as a whole: something else may have changed what the terminal shows."""
        self._rows = []

    def encode(self, update: LayoutUpdate | ChopsUpdate, width: int, height: int, console: Console) -> str:
        """Return the output for an update of Textual on a screen of this size, and remember the result."""
        if (width, height) != (self._width, len(self._rows)):
            self._width = width
            self._rows = [[UNKNOWN] * width for _ in range(height)]
            self._drawn.clear()
        color_system = console._color_system or ColorSystem.TRUECOLOR  # rich has no public name for it
        pieces = {
            y: row
            for y, row in _pieces(update).items()
            if 0 <= y < height and row and self._is_inside(row) and not self._is_drawn(y, row)
        }
        self._drawn |= pieces
        old = self._rows
        new = {y: _row(old[y], row, color_system) for y, row in pieces.items()}
        changed = {y: row for y, row in new.items() if row != old[y]}
        output: list[str] = []
        if len(changed) > MIN_SCROLLED_ROWS and (scroll := _find_scroll(old, new, pieces)):
            output.append(_scroll_sequence(scroll))
            rows = _scrolled(old, scroll, width)
            changed = {y: new.get(y, old[y]) for y in range(height) if new.get(y, old[y]) != rows[y]}
        else:
            rows = old
        for y, row in changed.items():
            output.append(_changes(y, rows[y], row))
        self._rows = [changed.get(y, row) for y, row in enumerate(rows)]
        return "".join(output)

    def _is_inside(self, row: list[ScreenPiece]) -> bool:
        x, strip = row[-1]
        return x + strip.cell_length <= self._width

    def _is_drawn(self, y: int, row: list[ScreenPiece]) -> bool:
        """Return True if the strips last drawn on this row are these very objects. Most lines are cached."""
        drawn = self._drawn.get(y, ())
        return len(drawn) == len(row) and all(
            strip is last and x == last_x for (x, strip), (last_x, last) in zip(row, drawn, strict=True)
        )


class DiffedUpdate(CompositorUpdate):
    """An update of Textual that is written as its differences from what the terminal shows."""

    def __init__(self, update: LayoutUpdate | ChopsUpdate, diff: FrameDiff, width: int, height: int) -> None:
        self._update = update
        self._diff = diff
        self._size = (width, height)

    def render_segments(self, console: Console) -> str:
        """Return the output. Textual calls this once, when it writes the update."""
        return self._diff.encode(self._update, *self._size, console)


def diffed(
    renderable: RenderableType | None, diff: FrameDiff, width: int, height: int
) -> RenderableType | None:
    """Return a renderable that writes only the differences, if it is an update of the screen."""
    if isinstance(renderable, LayoutUpdate | ChopsUpdate):
        return cast("RenderableType", DiffedUpdate(renderable, diff, width, height))
    return renderable


# ----------------------------------------------------------------------------- from Textual to cells


def _pieces(update: LayoutUpdate | ChopsUpdate) -> dict[int, list[ScreenPiece]]:
    """Return the pieces of each row of the update, from left to right."""
    rows: dict[int, list[ScreenPiece]] = {}
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            row, x = rows.setdefault(y, []), update.region.x
            for strip in strips:
                row.append(ScreenPiece(x, strip))
                x += strip.cell_length
        return rows
    for y, x1, x2 in update.spans:
        row = rows.setdefault(y, [])
        for (x, chop), end in zip(update.chops[y].items(), update.chop_ends[y], strict=False):
            # A chop has one widget on top. Where a span overlaps it, this widget has been rendered.
            if chop is not None and x < x2 and x1 < end and not (row and row[-1].x >= x):
                row.append(ScreenPiece(x, chop))
    return rows


def _row(old: list[Cell], pieces: list[ScreenPiece], color_system: ColorSystem) -> list[Cell]:
    """Return the row after these pieces have been drawn on it."""
    row = old.copy()
    for x, strip in pieces:
        cells = _cells(strip, color_system)
        end = x + len(cells)
        if row[x : x + 1] and not row[x][0]:  # drawn over the right part of a wide character
            lead = _lead(row, x)
            row[lead:x] = [(" ", style) for _, style in row[lead:x]]
        while end < len(row) and not row[end][0]:  # … or over the left part
            row[end] = (" ", row[end][1])
            end += 1
        row[x : x + len(cells)] = cells
    return row


def _cells(strip: Strip, color_system: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for segment in strip._segments:  # Textual 8.2.8: iterating over the strip is slower
        key = (segment.text, id(segment.style), color_system)
        if (cached := _segment_cache.get(key)) is None:
            if len(_segment_cache) >= MAX_CACHED_SEGMENTS:
                _segment_cache.clear()
            cached = _segment_cache[key] = (segment.style, _segment_cells(segment, color_system))
        cells += cached[1]
    if len(cells) == strip.cell_length:
        return cells
    # Control characters have become visible: cut the end, but no character in its middle.
    cells = [*cells, *[BLANK] * (strip.cell_length - len(cells))]
    end = _lead(cells, strip.cell_length) if len(cells) > strip.cell_length else strip.cell_length
    return [*cells[:end], *[BLANK] * (strip.cell_length - end)]


MAX_CACHED_SEGMENTS = 4096
MAX_CACHED_CELLS = 16384
_segment_cache: dict[tuple[str, int, ColorSystem], tuple[Style | None, list[Cell]]] = {}
"""The cells of each segment, by text and id of the style. Most lines are drawn many times.

The style is kept, so that its id is not used for another style.
"""
_cell_cache: dict[Cell, Cell] = {}
"""The one object that stands for all equal cells, which saves memory and speeds up comparing."""


def _segment_cells(segment: Segment, color_system: ColorSystem) -> list[Cell]:
    text, style = safe_text_and_style(segment)
    codes = _codes(style, color_system)
    parts = _parts(text)
    if len(_cell_cache) >= MAX_CACHED_CELLS:
        _cell_cache.clear()
    one = _cell_cache.setdefault
    if len(parts) == cell_len(text):  # each part is one cell wide
        return [one(cell, cell) for cell in zip(parts, repeat(codes))]
    cells: list[Cell] = []
    for part in parts:
        cell, rest = (part, codes), ("", codes)
        cells.append(one(cell, cell))
        cells.extend([one(rest, rest)] * (cell_len(part) - 1))
    return cells


def _codes(style: Style | None, color_system: ColorSystem) -> str:
    """Return the escape sequences that turn on a style, whatever style was on before."""
    if style is None:
        return BLANK[1]
    # Textual 8.2.8: its own rendering uses the cached codes of rich's style in the same way.
    codes = style._ansi if style._ansi is not None else Strip.render_ansi(style, color_system)
    sgr = f"\x1b[0;{codes}m" if codes else BLANK[1]
    return f"\x1b]8;id={style._link_id};{style._link}\x1b\\{sgr}" if style._link else sgr


def _parts(text: str) -> list[str]:
    """Split text into what belongs together in a terminal: usually characters."""
    if text.isascii() or all(map(_is_plain, text)):
        return list(text)
    spans, _ = split_graphemes(text)
    return [text[start:end] for start, end, _ in spans] if all(width for *_, width in spans) else [text]


@lru_cache(maxsize=4096)
def _is_plain(part: str) -> bool:
    """Return True if every terminal shows this part in as many cells as Textual expects."""
    return part == "" or (
        len(part) == 1
        and part < "\U0001f000"  # emoji and later additions: their width depends on the terminal
        and category(part) not in ("Mn", "Mc", "Me", "Cf")
        and cell_len(part) > 0
    )


# ----------------------------------------------------------------------------- from cells to output


def _changes(y: int, old: list[Cell], new: list[Cell]) -> str:
    """Return the output that changes one row."""
    if not (_is_plain_row(old) and _is_plain_row(new)):
        return _write(y, new, 0, len(new))
    output = []
    different = [x for x, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    start = end = different[0]
    for x in different:
        if x - end > MOVE_LENGTH:
            output.append(_write(y, new, *_whole_characters(old, new, start, end)))
            start = x
        end = x + 1
    output.append(_write(y, new, *_whole_characters(old, new, start, end)))
    return "".join(output)


def _is_plain_row(row: list[Cell]) -> bool:
    return all(map(_is_plain, {text for text, _ in row}))


def _whole_characters(old: list[Cell], new: list[Cell], start: int, end: int) -> tuple[int, int]:
    """Widen a range of cells so that it cuts no wide character, neither of the old row nor of the new one."""
    while start > 0 and not (old[start][0] and new[start][0]):
        start -= 1
    while end < len(new) and not (old[end][0] and new[end][0]):
        end += 1
    return start, end


def _write(y: int, row: list[Cell], start: int, end: int) -> str:
    """Return the output that writes some cells of a row, and ends with the style turned off."""
    output = [f"\x1b[{y + 1};{start + 1}H"]
    current = BLANK[1]
    for x in range(start, end):
        text, codes = row[x]
        if not text:
            continue
        if row[x] == UNKNOWN:  # leave the cell as it is
            output.append(f"\x1b[{y + 1};{x + 2}H")
            continue
        if codes != current:
            if current.startswith("\x1b]8"):
                output.append(LINK_END)
            output.append(codes)
            current = codes
        output.append(text)
        if not _is_plain(text):  # the terminal may have moved the cursor by another number of cells
            output.append(f"\x1b[{y + 1};{_next(row, x) + 1}H")
    if current.startswith("\x1b]8"):
        output.append(LINK_END)
    if current != BLANK[1]:
        output.append(BLANK[1])
    return "".join(output)


def _lead(row: list[Cell], x: int) -> int:
    """Return the first cell of the wide character in this cell."""
    while x > 0 and not row[x][0]:
        x -= 1
    return x


def _next(row: list[Cell], x: int) -> int:
    """Return the cell behind the character that begins in this cell."""
    x += 1
    while x < len(row) and not row[x][0]:
        x += 1
    return x


# ----------------------------------------------------------------------------- scrolling


def _find_scroll(
    old: list[list[Cell]], new: dict[int, list[Cell]], pieces: dict[int, list[ScreenPiece]]
) -> Scroll | None:
    """Return the scrolling after which the fewest cells differ, or None if scrolling does not help."""
    places: dict[tuple[int, tuple[Cell, ...]], int] = {}
    wanted: list[tuple[int, tuple[int, tuple[Cell, ...]]]] = []
    for y, row in pieces.items():
        for x, strip in row:
            end = x + strip.cell_length
            if strip.cell_length >= MIN_SCROLL_WIDTH:
                before, after = tuple(old[y][x:end]), tuple(new[y][x:end])
                if UNKNOWN in before:
                    return None
                if before.count(before[0]) < len(before):  # an empty row looks like any other
                    places[x, before] = y
                if after.count(after[0]) < len(after):
                    wanted.append((y, (x, after)))
    moves: Counter[int] = Counter()
    rows: dict[int, list[int]] = {}
    for y, key in wanted:
        if (source := places.get(key)) is not None:
            moves[source - y] += 1
            rows.setdefault(source - y, []).append(y)
    distance, votes = moves.most_common(1)[0] if moves else (0, 0)
    if not distance or votes < MIN_SCROLLED_ROWS:
        return None
    top = min(rows[distance]) + min(distance, 0)
    bottom = max(rows[distance]) + max(distance, 0)
    scroll = Scroll(top, bottom, distance)
    width = len(old[0])
    after_scroll = _scrolled(old, scroll, width)
    target = [new.get(y, old[y]) for y in range(top, bottom + 1)]
    if _cost(after_scroll[top : bottom + 1], target) < _cost(old[top : bottom + 1], target):
        return scroll
    return None


def _cost(old: list[list[Cell]], new: list[list[Cell]]) -> int:
    """Return about how many characters have to be written to change these rows."""
    return sum(
        MOVE_LENGTH + sum(map(ne, before, after))
        for before, after in zip(old, new, strict=True)
        if before != after
    )


def _scrolled(rows: list[list[Cell]], scroll: Scroll, width: int) -> list[list[Cell]]:
    """Return the rows as the terminal shows them after scrolling."""
    top, bottom, distance = scroll
    region = rows[top : bottom + 1]
    empty = [[BLANK] * width for _ in range(abs(distance))]
    moved = [*region[distance:], *empty] if distance > 0 else [*empty, *region[:distance]]
    return [*rows[:top], *moved, *rows[bottom + 1 :]]


def _scroll_sequence(scroll: Scroll) -> str:
    """Return the output that scrolls.

    It uses line feeds and IL rather than SU and SD, which some terminals and multiplexers lack. The style is
    off between frames, so that the new rows are empty cells without colours.
    """
    top, bottom, distance = scroll
    region = f"\x1b[{top + 1};{bottom + 1}r"
    if distance > 0:
        return f"{region}\x1b[{bottom + 1};1H" + "\n" * distance + "\x1b[r"
    return f"{region}\x1b[{top + 1};1H\x1b[{-distance}L\x1b[r"
