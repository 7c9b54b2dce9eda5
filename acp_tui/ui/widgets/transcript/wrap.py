"""Wrapping styled text to a width in cells. Wide, combining and joined characters count as they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.style import Style

TAB = 4


def wrap(spans: Iterable[Segment], width: int) -> list[list[Segment]]:
    """The lines of one logical line: broken at spaces, and inside words that are too long.

    Spaces at a break are dropped; those at the beginning of the text stay. There is always one line.
    """
    lines: list[list[Segment]] = []
    line: list[Segment] = []
    room = width = max(1, width)
    spaces: list[Segment] = []  # held back until a word follows on the same line
    held = 0
    for word, size, blank in _words(spans):
        if blank:
            spaces += word
            held += size
            continue
        if line and held + size > room:
            lines.append(line)
            line, room = [], width
        elif held and held < room:
            line += spaces
            room -= held
        spaces, held = [], 0
        if size <= room:
            line += word
            room -= size
            continue
        for piece, cells in _pieces(word, room, width):
            if cells > room:
                lines.append(line)
                line, room = [], width
            line.append(piece)
            room -= cells
    lines.append(line)
    return lines


def fold(spans: Iterable[Segment], width: int) -> list[list[Segment]]:
    """The lines of one logical line, cut wherever it is full: for code and terminal output."""
    width = max(1, width)
    spans = [span for span in spans if span.text]
    if sum(cell_len(span.text) for span in spans) <= width:
        return [spans]
    lines: list[list[Segment]] = [[]]
    room = width
    for piece, cells in _pieces(spans, width, width):
        if cells > room:
            lines.append([])
            room = width
        lines[-1].append(piece)
        room -= cells
    return lines


def strip(spans: Iterable[Segment], indent: Iterable[Segment] = ()) -> Strip:
    """One line, ready to be drawn."""
    return Strip([*indent, *spans])


def padded(spans: Iterable[Segment], width: int, style: Style) -> Strip:
    """One line on a background that reaches to the edge."""
    segments = list(spans)
    missing = width - sum(cell_len(segment.text) for segment in segments)
    if missing > 0:
        segments.append(Segment(" " * missing, style))
    return Strip(segments)


def shortened(text: str, width: int) -> str:
    """The text in so many cells; … stands for what is cut off."""
    if cell_len(text) <= width:
        return text
    kept, room = [], width - 1
    for char in text:
        room -= get_character_cell_size(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + "…" if width > 0 else ""


def shortened_path(path: str, width: int) -> str:
    """The end of a path matters most, so its beginning goes first."""
    if cell_len(path) <= width:
        return path
    kept: list[str] = []
    room = width - 1
    for char in reversed(path):
        room -= get_character_cell_size(char)
        if room < 0:
            break
        kept.append(char)
    return "…" + "".join(reversed(kept)) if width > 0 else ""


def expanded(text: str, column: int = 0) -> str:
    """Tabs as spaces, up to the next stop."""
    if "\t" not in text:
        return text
    parts: list[str] = []
    for number, part in enumerate(text.split("\t")):
        if number:
            spaces = TAB - column % TAB
            parts.append(" " * spaces)
            column += spaces
        parts.append(part)
        column += cell_len(part)
    return "".join(parts)


def _words(spans: Iterable[Segment]) -> Iterator[tuple[list[Segment], int, bool]]:
    """Runs of spaces and runs of anything else, which may reach over several spans; with their cells."""
    run: list[Segment] = []
    size = 0
    blank = True
    for text, style, _ in spans:
        at = 0
        while at < len(text):
            is_blank = text[at] == " "
            end = at
            while end < len(text) and (text[end] == " ") is is_blank:
                end += 1
            if run and is_blank is not blank:
                yield run, size, blank
                run, size = [], 0
            blank = is_blank
            piece = text[at:end]
            run.append(Segment(piece, style))
            size += cell_len(piece)
            at = end
    if run:
        yield run, size, blank


def _pieces(spans: Iterable[Segment], room: int, width: int) -> Iterator[tuple[Segment, int]]:
    """The text cut so that each piece fits what is left of its line, in the order of the lines."""
    for text, style, _ in spans:
        start, cells = 0, 0
        for at, char in enumerate(text):
            size = get_character_cell_size(char)
            if cells + size > room and (cells or room < width):
                if cells:
                    yield Segment(text[start:at], style), cells
                start, cells, room = at, 0, width
            cells += size
        if cells or start < len(text):
            yield Segment(text[start:], style), cells
            room -= cells
