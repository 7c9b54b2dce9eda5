"""Helpers for the styles of widgets that draw their own lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from textual.widget import Widget

NOT_DIM = Style(dim=False)
"""Removes dimming when added to a style."""


def foreground_style(widget: Widget, name: str) -> Style:
    """Return the style of the component class `name` without its background, for use on any background."""
    style = widget.get_component_rich_style(name)
    return Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline)
