"""The text selected with the mouse, tied to entries so that it survives scrolling and reflow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from textual.selection import Selection

    from acp_tui.ui.transcript.entry_layout import EntryBlock, EntryLayout

LINE_NUMBER_BITS = 20
"""The number of bits for the line number in a selection row, `entry id << LINE_NUMBER_BITS | line`.

Selections in the transcript use such rows instead of screen rows, because scrolling does not change them.
"""
MAX_ENTRY_LINES = 1 << LINE_NUMBER_BITS
"""An upper bound on the number of lines of an entry."""


def selection_row(block: EntryBlock, line: int) -> int:
    """Return the number that stands for a line of an entry in a selection (see `LINE_NUMBER_BITS`)."""
    return (block.entry.id << LINE_NUMBER_BITS) + line


def selected_lines(layout: EntryLayout, selection: Selection, margin: int) -> list[str]:
    """Return the lines of the selected text as drawn, without the `margin` cells at the left."""
    blocks = layout.blocks
    if not blocks:
        return []
    first = selection.start.y >> LINE_NUMBER_BITS if selection.start is not None else blocks[0].entry.id
    last = selection.end.y >> LINE_NUMBER_BITS if selection.end is not None else blocks[-1].entry.id
    lines: list[str] = []
    for index in range(layout.index_of(first) or 0, len(blocks)):
        block = blocks[index]
        if block.entry.id > last:
            break
        layout.settle_lines(index, 0, MAX_ENTRY_LINES)
        lines += [""] * (block.gap if lines and layout.heights[index] else 0)
        lines += _selected_in(block, selection, margin)
    return lines


def _selected_in(block: EntryBlock, selection: Selection, margin: int) -> list[str]:
    assert block.body is not None
    lines: list[str] = []
    for line in range(block.body.height):
        span = selection.get_span(selection_row(block, line))
        if span is not None:
            start, end = max(0, span[0] - margin), span[1] - margin if span[1] != -1 else None
            lines.append(block.body.line(line).text[start:end].rstrip())
    return lines


# --------------------------------------------------------------------------- double and triple clicks

_WORD = re.compile(r"[\w./~@:%+#=?&-]*\w/?")
"""A word, also a path, an address or an option, without the punctuation after it."""


def word_span(text: str, cell: int) -> tuple[int, int] | None:
    """Return the start and the end of the word at a cell of a line; None if there is no word."""
    for found in _WORD.finditer(text):
        start = cell_len(text[: found.start()])
        if start <= cell < start + cell_len(found[0]):
            return found.span()
    return None


def text_span(text: str) -> tuple[int, int] | None:
    """Return the start and the end of a line's text, without the space around it; None if it is empty."""
    stripped = text.strip()
    start = len(text) - len(text.lstrip())
    return (start, start + len(stripped)) if stripped else None
