"""The last step before the screen: no text in a frame can command the terminal, wherever it came from.

Textual writes the text of a widget as it is, escape sequences included. Every widget is drawn as `Strip`s,
which `Strip.render` turns into what is written. The gate stands there: it checks texts and links before
Textual adds its own escape sequences. The result is cached with the strip: unchanged lines are checked once.
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
    """Put the gate in front of every screen of this process."""
    Strip.render = _render  # type: ignore[method-assign, assignment]  # Textual 8.2.8 makes its strips itself


def _render(strip: Strip, console: Console) -> str:
    if strip._render_cache is None and not _harmless(strip._segments):
        strip._render_cache = _textual_render(_sanitized(strip), console)
    return _textual_render(strip, console)


def _harmless(segments: Iterable[Segment]) -> bool:
    """Can nothing of it be a control character? `isprintable` is much cheaper than looking for them."""
    for text, style, _ in segments:
        if not text.isprintable() or (style is not None and style._link is not None):
            return False
    return True


def _sanitized(strip: Strip) -> Strip:
    """The same strip with stand-ins. It keeps its width: the end is cut off where they need more room."""
    segments = [Segment(visible_row(text), _with_safe_link(style)) for text, style, _ in strip._segments]
    if segments == strip._segments:  # such as emoji with joiners, or a harmless link
        return strip
    return Strip(segments).adjust_cell_length(strip.cell_length)


def _with_safe_link(style: Style | None) -> Style | None:
    """Without characters that would end the address early (OSC 8 takes printable ASCII only)."""
    link = style._link if style is not None else None
    if style is None or link is None or (link.isascii() and link.isprintable()):
        return style
    return style.update_link("".join(_in_address(char) for char in link))


def _in_address(char: str) -> str:
    return char if char.isprintable() else quote(char, errors="replace")
