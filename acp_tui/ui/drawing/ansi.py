"""Converts styled terminal output to Rich segments in the colours of the theme."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from acp_tui.ui.drawing.wrap import join_graphemes

if TYPE_CHECKING:
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.workspace.terminals.sgr import Style as Look
    from acp_tui.workspace.terminals.terminal_emulator import Line

THEME_COLOURS = 16
"""The number of terminal colours that the theme defines. The others, up to 256, are fixed."""


def line_segments(line: Line, palette: Palette) -> list[Segment]:
    """Return one line of terminal output as styled segments."""
    return join_graphemes(Segment(text, rich_style(look, palette.terminal)) for text, look in line)


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
