"""Formats text for the terminal: aligned columns, wrapped paragraphs, labels."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

WIDTH = 80
EMOJI_SELECTOR = "\ufe0f"
"""Makes the symbol before it an emoji, which is two columns wide."""


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines with aligned columns. Control characters are replaced."""
    safe = [[visible_line(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in safe), default=0)
    widths = [max((cells(row[at]) for row in safe if at < len(row)), default=0) for at in range(columns)]
    return [
        "  ".join(
            cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=False)
        ).rstrip()
        for row in safe
    ]


def wrapped(text: str, indent: str = "") -> list[str]:
    """Wrap the text to 80 columns without breaking long words such as paths."""
    return textwrap.wrap(
        visible_line(text),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def labelled(
    fields: Sequence[tuple[str, str]],
    indent: str = "",
    commands: Collection[str] = (),
    margins: Sequence[str] = (),
) -> list[str]:
    """Return lines with labels in one column and wrapped texts in the other.

    Texts whose label is in `commands` are not wrapped, so that they can be copied. `margins` has one item per
    field; an item that is not empty replaces the indent of the field's first line.
    """
    fields = [(visible_line(label), text) for label, text in fields]
    width = max((len(label) for label, _ in fields), default=0) + 2
    lines: list[str] = []
    for position, (label, text) in enumerate(fields):
        pieces = [visible_line(text)] if label in commands else wrapped(text, indent + " " * width)
        first, *more = pieces or [""]
        margin = (margins[position] if position < len(margins) else "") or indent
        lines += [f"{margin}{label:{width}}{first.lstrip()}".rstrip(), *more]
    return lines


def cells(text: str) -> int:
    """Return the width of the text in terminal columns."""
    return sum(map(_char_cells, text, ["", *text]))


def _char_cells(char: str, before: str) -> int:
    if char == EMOJI_SELECTOR:
        return int(bool(before) and _char_cells(before, "") == 1 and unicodedata.category(before) == "So")
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Return the text on one line, truncated to `width` columns."""
    text = " ".join(visible_line(text[: width * 8]).split())
    if cells(text) <= width:
        return text
    while cells(text) >= width:
        text = text[:-1]
    return f"{text.rstrip()}…"
