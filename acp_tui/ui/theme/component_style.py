"""Styles for widgets that draw their own lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget

NOT_DIM = Style(dim=False)


def foreground_style(widget: Widget, name: str) -> Style:
    """Return the style of a component class without its background, so that it fits on any line."""
    style = widget.get_component_rich_style(name)
    return Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline)


def highlight_row(strip: Strip, look: Style) -> Strip:
    """Draw the selected row of a list. Its own colours are replaced: they may not suit the background."""
    look += NOT_DIM
    return Strip(
        [Segment(text, (style + look if style else look)) for text, style, _ in strip], strip.cell_length
    )
