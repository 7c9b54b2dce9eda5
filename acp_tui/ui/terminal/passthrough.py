"""Builds and writes escape sequences, wrapped so that tmux and GNU screen pass them on to the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App

SCREEN_LIMIT = 250
"""The maximum length, in characters, of a string that GNU screen passes on to the terminal."""


def in_tmux(environ: Mapping[str, str]) -> bool:
    """Return True if acp-tui runs inside tmux."""
    return bool(environ.get("TMUX"))


def in_screen(environ: Mapping[str, str]) -> bool:
    """Return True if acp-tui runs inside GNU screen and not inside tmux."""
    return bool(environ.get("STY")) and not in_tmux(environ)


def osc(*fields: str) -> str:
    """Return the OSC escape sequence with these fields. Control characters in the fields are replaced."""
    return f"\x1b]{';'.join(map(visible_line, fields))}\x07"


def wrap_for_multiplexer(sequence: str, environ: Mapping[str, str]) -> str:
    """Wrap a sequence so that tmux or GNU screen passes it on to the terminal.

    Without tmux or GNU screen, return the sequence unchanged.
    """
    if in_tmux(environ):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if in_screen(environ):
        # The sequences end with BEL: a string terminator (ESC \) would end the wrapper instead.
        return "".join(f"\x1bP{piece}\x1b\\" for piece in re.findall(f"(?s).{{1,{SCREEN_LIMIT}}}", sequence))
    return sequence


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Write an escape sequence that draws nothing, such as a window title or a bell."""
    if app._driver is not None:  # Textual 8.2.8: has no public access to the driver
        app._driver.write(sequence)
