"""Removes control characters from everything that is drawn, wherever the text comes from.

Textual 8.2.8 writes the text of widgets unchanged, escape sequences included. Every widget is drawn as
`Strip`s, and `Strip.render` turns the strips into output. This module replaces `Strip.render`, in order to
check texts and links before Textual adds its own escape sequences. The result is cached with the strip, so
that unchanged lines are checked only once.

Escape sequences that are not part of a frame (titles, notifications, the clipboard) are made by
`passthrough.osc`, which replaces control characters itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.session.text.safe_text import visible_row

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
    """Return True if the segments have neither links nor characters that are not printable.

    `isprintable` is cheaper than searching for control characters.
    """
    for text, style, _ in segments:
        if not text.isprintable() or (style is not None and style._link is not None):
            return False
    return True


def _sanitized(strip: Strip) -> Strip:
    """Return a strip with control characters made visible and links made safe, at the same width."""
    segments = [Segment(visible_row(text), _with_safe_link(style)) for text, style, _ in strip._segments]
    if segments == strip._segments:  # an emoji with joiners, or a harmless link
        return strip
    return Strip(segments).adjust_cell_length(strip.cell_length)


def _with_safe_link(style: Style | None) -> Style | None:
    """Return the style with its link percent-encoded if necessary: OSC 8 accepts only printable ASCII."""
    link = style._link if style is not None else None
    if style is None or link is None or (link.isascii() and link.isprintable()):
        return style
    return style.update_link("".join(_encode(char) for char in link))


def _encode(char: str) -> str:
    return char if char.isprintable() else quote(char, errors="replace")
