"""Removes control characters from everything that is drawn, wherever the text comes from.

Textual 8.2.8 passes the text of widgets on unchanged, escape sequences included. Every widget is drawn as
`Segment`s; `frame_diff` passes them through here, before it adds its own escape sequences.

Escape sequences that are not part of a frame (titles, notifications, the clipboard) are made by
`passthrough.osc`, which replaces control characters itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from acp_tui.session.text.safe_text import visible_row

if TYPE_CHECKING:
    from rich.segment import Segment
    from rich.style import Style


def safe_text_and_style(segment: Segment) -> tuple[str, Style | None]:
    """Return the text with control characters made visible, and the style with a safe link."""
    text, style, _ = segment
    return text if text.isprintable() else visible_row(text), _with_safe_link(style)


def _with_safe_link(style: Style | None) -> Style | None:
    """Return the style with its link percent-encoded if necessary: OSC 8 accepts only printable ASCII."""
    link = style._link if style is not None else None
    if style is None or link is None or (link.isascii() and link.isprintable()):
        return style
    return style.update_link("".join(_encode(char) for char in link))


def _encode(char: str) -> str:
    return char if char.isprintable() else quote(char, errors="replace")
