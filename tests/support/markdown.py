"""Documents for the tests of Markdown, drawn at once or while they grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from acp_tui.session.growing_text import GrowingText
from acp_tui.ui.markdown.document import Document
from acp_tui.ui.theme.palette import SYNTAX, Palette

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.strip import Strip

PALETTE = Palette(
    text=Style(color="white"),
    dim=Style(dim=True),
    strong=Style(bold=True),
    emphasis=Style(italic=True),
    strike=Style(strike=True),
    link=Style(underline=True),
    heading1=Style(color="red"),
    heading2=Style(color="green"),
    heading3=Style(color="blue"),
    inline_code=Style(color="cyan"),
    code=Style(color="white", bgcolor="black"),
    code_label=Style(color="magenta"),
    quote=Style(color="yellow"),
    syntax={name: Style(color=f"#0000{number:02x}") for number, name in enumerate(SYNTAX, 16)},
)
ALL = 1 << 30


def document(text: str, width: int = 60) -> Document:
    """Return a document that is not settled yet."""
    return Document(GrowingText(text), PALETTE, width)


def grown(
    chunks: Iterable[str], width: int = 60, *, draw_each_chunk: bool = False, plain: bool = False
) -> Document:
    """Return a document drawn from chunks. `draw_each_chunk` also draws its last lines after each chunk."""
    text = GrowingText()
    drawn = Document(text, PALETTE, width, plain=plain)
    for chunk in chunks:
        text.append(chunk)
        drawn.update()
        if draw_each_chunk:
            first = max(0, drawn.height - 8)
            drawn.settle(first, drawn.height)
            for number in range(first, drawn.height):
                drawn.line(number)
    return drawn


def strips(drawn: Document) -> list[Strip]:
    """Return all lines of a document."""
    drawn.settle(0, ALL)
    return [drawn.line(number) for number in range(drawn.height)]


def lines(text: str, width: int = 60) -> list[str]:
    """Return the drawn lines of a text, without trailing spaces."""
    return [strip.text.rstrip() for strip in strips(document(text, width))]


def style_of(text: str, piece: str, width: int = 60) -> Style:
    """Return the style of a part of a text."""
    for strip in strips(document(text, width)):
        at = 0
        for segment in strip:
            start = strip.text.find(piece)
            if start != -1 and at <= start < at + len(segment.text):
                assert segment.style is not None
                return segment.style
            at += len(segment.text)
    raise AssertionError(f"{piece!r} is not shown")
