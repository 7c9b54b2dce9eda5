"""Styles from CSS for what a widget draws itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from textual.widget import Widget


def foreground(widget: Widget, name: str) -> Style:
    """The style of a component class without its background, to lay over any line."""
    style = widget.get_component_rich_style(name)
    return Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline)
