"""Wraps styled text to a width in cells, taking wide, combining and joined characters into account.

Tabs are replaced by spaces, because a terminal does not erase the cells that a tab skips.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from acp_tui.workspace.terminals.screen_buffer import Style as Look
    from acp_tui.workspace.terminals.terminal_emulator import Line


if TYPE_CHECKING:
    FindBreak = Callable[[str, int, int], tuple[int, int]]
    """Given text, where a line starts and where it is full: where it ends and where the next one starts."""

TAB_WIDTH = 4
TAB_MARK = "→"
"""What marks a tab where it has to be visible."""
MAX_LINE_LENGTH = 20_000
"""The maximum number of characters to draw of one logical line. A note says how many are omitted."""
_JOINER = "\u200d"
_JOINING = (_JOINER, "\ufe0f")
"""Characters that join their neighbours into one grapheme, or widen the character before them."""


def wrap(spans: Iterable[Segment], width: int) -> list[list[Segment]]:
    """Wrap a logical line at spaces, or inside a word that is wider than `width`. Return at least one line.

    Spaces at a line break are dropped. Spaces at the beginning of the text are kept.
    """
    return _lines(spans, width, _break_at_space)


def hard_wrap(spans: Iterable[Segment], width: int) -> list[list[Segment]]:
    """Wrap a logical line exactly at `width`, for code and terminal output. Return at least one line."""
    return _lines(spans, width, _break_at_end)


def hard_wrap_count(text: str, width: int) -> int:
    """Return the number of lines that `hard_wrap` would return."""
    return len(_breaks(expand_tabs(truncate_line(text)), max(1, width), _break_at_end))


def wrap_exact(spans: Iterable[Segment], width: int) -> list[list[Segment]]:
    """Wrap a logical line after spaces if possible, and keep all spaces. Return at least one line."""
    return _lines(spans, width, _break_after_space)


def wrap_exact_count(text: str, width: int) -> int:
    """Return the number of lines that `wrap_exact` would return."""
    return len(_breaks(expand_tabs(truncate_line(text)), max(1, width), _break_after_space))


def truncate_line(text: str) -> str:
    """Cut text at `MAX_LINE_LENGTH` and append how many characters are omitted.

    Drawing a longer line could take seconds.
    """
    return (
        text
        if len(text) <= MAX_LINE_LENGTH
        else text[:MAX_LINE_LENGTH] + _truncation_note(len(text) - MAX_LINE_LENGTH)
    )


def _truncation_note(characters: int) -> str:
    return f" … {characters:,} more characters"


def join_graphemes(spans: Iterable[Segment]) -> list[Segment]:
    """Move the characters in `_JOINING`, and each character after a joiner, to the segment before them.

    A segment boundary at these characters would change the width of the grapheme.
    """
    found: list[Segment] = []
    for text, style, _ in spans:
        while text and found and (text[0] in _JOINING or found[-1].text[-1] == _JOINER):
            found[-1] = Segment(found[-1].text + text[0], found[-1].style)
            text = text[1:]
        if text:
            found.append(Segment(text, style))
    return found


def make_strip(spans: Iterable[Segment], indent: Iterable[Segment] = ()) -> Strip:
    """Make a strip from an indent and spans."""
    return Strip([*indent, *spans])


def shorten(text: str, width: int) -> str:
    """Shorten text to at most `width` cells.

    If the text is cut, the text ends in an ellipsis, unless `width` is below 1.
    """
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = text[: _fitting_end(text, 0, width - 1)]
    return (kept if cell_len(kept) < width else "") + "…"


def shorten_spans(spans: list[Segment], width: int) -> list[Segment]:
    """Shorten styled text to at most `width` cells.

    If the text is cut, the text ends in an ellipsis, unless `width` is below 1.
    """
    strip = Strip(spans)
    if strip.cell_length <= width or width < 1:
        return spans if width > 0 else []
    style = next(iter(strip.crop(width - 1, width))).style
    return [*strip.crop(0, width - 1), Segment("…", style)]


def shorten_path(path: str, width: int) -> str:
    """Shorten a path to at most `width` cells, by replacing its beginning with an ellipsis.

    Return an empty string if `width` is below 1.
    """
    if cell_len(path) <= width:
        return path
    kept: list[str] = []
    room = width - 1
    for char in reversed(path):
        room -= get_character_cell_size(char)
        if room < 0:
            break
        kept.append(char)
    while kept and cell_len("".join(reversed(kept))) >= width:  # a character can widen the one before
        kept.pop()
    return "…" + "".join(reversed(kept)) if width > 0 else ""


def expand_tabs(text: str, column: int = 0) -> str:
    """Replace each tab by spaces up to the next tab stop. The text begins in cell `column` of its line."""
    if "\t" not in text:
        return text
    parts: list[str] = []
    for number, part in enumerate(text.split("\t")):
        if number:
            spaces = TAB_WIDTH - column % TAB_WIDTH
            parts.append(" " * spaces)
            column += spaces
        parts.append(part)
        column += cell_len(part)
    return "".join(parts)


def _lines(spans: Iterable[Segment], width: int, find_break: FindBreak) -> list[list[Segment]]:
    spans = [span for span in spans if span.text]
    if sum(len(span.text) for span in spans) > MAX_LINE_LENGTH:
        spans = _truncate_spans(spans)
    text = "".join(span.text for span in spans)
    if "\t" in text:
        spans = _expand_span_tabs(spans)
        text = "".join(span.text for span in spans)
    return _cut_spans(spans, _breaks(text, max(1, width), find_break))


def _truncate_spans(spans: list[Segment]) -> list[Segment]:
    """Do the same as `truncate_line` for styled text."""
    kept: list[Segment] = []
    room = MAX_LINE_LENGTH
    for text, style, _ in spans:
        if room and text:
            kept.append(Segment(text[:room], style))
            room -= len(kept[-1].text)
    missing = sum(len(span.text) for span in spans) - MAX_LINE_LENGTH
    return [*kept, Segment(_truncation_note(missing), spans[-1].style)]


def _expand_span_tabs(spans: list[Segment]) -> list[Segment]:
    found = []
    column = 0
    for text, style, _ in spans:
        plain = expand_tabs(text, column)
        column += cell_len(plain)
        found.append(Segment(plain, style))
    return found


def _breaks(text: str, width: int, find_break: FindBreak) -> list[tuple[int, int]]:
    """Wrap text to `width` cells, and return the start and end index of each line."""
    one_cell_each = text.isascii()
    if (len(text) if one_cell_each else cell_len(text)) <= width:
        return [(0, len(text))]
    lines: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + width if one_cell_each else _fitting_end(text, start, width)
        if end >= len(text):
            lines.append((start, len(text)))
            break
        end, following = find_break(text, start, end)
        lines.append((start, end))
        start = following
    return lines


def _break_at_end(_text: str, _start: int, full: int) -> tuple[int, int]:
    """Break at `full`, even inside a word."""
    return full, full


def _break_after_space(text: str, start: int, full: int) -> tuple[int, int]:
    """Break after the last space before `full`; at `full` if there are none after the indentation.

    `TAB_MARK` counts as a space, so that a line is wrapped in the same way with and without it.
    """
    space = max(text.rfind(" ", start, full), text.rfind(TAB_MARK, start, full))
    end = space + 1 if space > start and text[start:space].strip(f" {TAB_MARK}") else full
    return end, end


def _break_at_space(text: str, start: int, full: int) -> tuple[int, int]:
    """Return where the line from `start` ends, and where the next line starts.

    The line ends before the last spaces up to `full`. If there are none after the indentation, the line ends
    at `full`.
    """
    space = text.rfind(" ", start, full + 1)
    end = full
    if space > start and text[start:space].strip(" "):  # not in the indentation
        end = space
    following = end
    while following < len(text) and text[following] == " ":
        following += 1
    return len(text[:end].rstrip(" ")) if end == space else end, following


def _fitting_end(text: str, start: int, width: int) -> int:
    """Return the end of the longest part at `start` that fits into `width` cells; at least `start + 1`."""
    room = width
    for at in range(start, len(text)):
        room -= get_character_cell_size(text[at])
        if room < 0:
            end = max(at, start + 1)
            break
    else:
        end = len(text)
    while end > start + 1 and cell_len(text[start:end]) > width:  # a character can widen the one before
        end -= 1
    return end


def _cut_spans(spans: list[Segment], lines: list[tuple[int, int]]) -> list[list[Segment]]:
    """Cut the spans into lines. `lines` has each line's start and end index in the text of all spans."""
    if lines == [(0, sum(len(span.text) for span in spans))]:
        return [spans]
    found: list[list[Segment]] = []
    at = 0  # where the span starts in the text
    index = 0
    for start, end in lines:
        line: list[Segment] = []
        while index < len(spans):
            text, style, _ = spans[index]
            piece = text[max(0, start - at) : end - at]
            if piece:
                line.append(Segment(piece, style))
            if at + len(text) > end:
                break
            at += len(text)
            index += 1
        found.append(line)
    return found


THEME_COLOURS = 16
"""The number of terminal colours that the theme defines. The others, up to 256, are fixed."""


def line_segments(line: Line, colours: tuple[str, ...]) -> list[Segment]:
    """Return one line of terminal output as styled segments. `colours` is the `terminal` of a palette."""
    return join_graphemes(Segment(text, rich_style(look, colours)) for text, look in line)


@lru_cache(maxsize=4096)
def rich_style(look: Look, terminal: tuple[str, ...]) -> Style:
    """Convert a style of the terminal emulator to a Rich style. `terminal` has the theme's 16 colours."""
    return Style(
        color=_color(look.fg, terminal),
        bgcolor=_color(look.bg, terminal),
        bold=look.bold or None,
        dim=look.dim or None,
        italic=look.italic or None,
        underline=look.underline or None,
        reverse=look.reverse or None,
        strike=look.strike or None,
    )


def _color(color: int | tuple[int, int, int] | None, terminal: tuple[str, ...]) -> Color | None:
    if color is None:
        return None
    if isinstance(color, tuple):
        return Color.from_rgb(*color)
    if color < len(terminal):
        return Color.parse(terminal[color])
    return (
        Color.from_ansi(color)
        if color < THEME_COLOURS
        else Color.from_triplet(Color.from_ansi(color).get_truecolor())
    )
