"""Removes control characters from everything that is drawn, wherever the text comes from.

Textual 8.2.8 writes the text of widgets unchanged, escape sequences included. Every widget is drawn as
`Strip`s, and `Strip.render` turns them into output. This module replaces that method: it checks texts and
links before Textual adds its own escape sequences. The result is cached with the strip, so unchanged lines
are checked once.

Sequences outside of frames (titles, notifications, the clipboard) are made by `passthrough.osc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.session.text import visible_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console
    from rich.style import Style

_textual_render = Strip.render


def install() -> None:
    """Sanitize everything that this process draws from now on."""
    Strip.render = _render  # type: ignore[method-assign, assignment]  # Textual 8.2.8: strips cannot be subclassed


def _render(strip: Strip, console: Console) -> str:
    if strip._render_cache is None and not _is_harmless(strip._segments):
        strip._render_cache = _textual_render(_sanitized(strip), console)
    return _textual_render(strip, console)


def _is_harmless(segments: Iterable[Segment]) -> bool:
    """Return True if there are no control characters or links. `isprintable` is cheaper than a search."""
    for text, style, _ in segments:
        if not text.isprintable() or (style is not None and style._link is not None):
            return False
    return True


def _sanitized(strip: Strip) -> Strip:
    """Return the strip with control characters made visible, cut to its width if it became wider."""
    segments = [Segment(visible_row(text), _with_safe_link(style)) for text, style, _ in strip._segments]
    if segments == strip._segments:  # an emoji with joiners, or a harmless link
        return strip
    return Strip(segments).adjust_cell_length(strip.cell_length)


def _with_safe_link(style: Style | None) -> Style | None:
    """Return the style with a percent-encoded link: OSC 8 accepts printable ASCII only."""
    link = style._link if style is not None else None
    if style is None or link is None or (link.isascii() and link.isprintable()):
        return style
    return style.update_link("".join(_encode(char) for char in link))


def _encode(char: str) -> str:
    return char if char.isprintable() else quote(char, errors="replace")
