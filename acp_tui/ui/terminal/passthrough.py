"""Sequences meant for the user's own terminal, passed through whatever stands between."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App

SCREEN_LIMIT = 250
"""Characters that GNU screen takes of one such string."""


def in_tmux(environ: Mapping[str, str]) -> bool:
    """Is tmux in between?"""
    return bool(environ.get("TMUX"))


def in_screen(environ: Mapping[str, str]) -> bool:
    """Is GNU screen in between?"""
    return bool(environ.get("STY")) and not in_tmux(environ)


def osc(*fields: str) -> str:
    """An operating system command, such as a title. No field can end it or begin another."""
    return f"\x1b]{';'.join(map(visible_line, fields))}\x07"


def wrap_for_multiplexer(sequence: str, environ: Mapping[str, str]) -> str:
    """The sequence as it has to be sent to arrive."""
    if in_tmux(environ):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if in_screen(environ):
        # An end of a string (ESC \) inside would end ours too soon: BEL ends the sequences sent here.
        return "".join(f"\x1bP{piece}\x1b\\" for piece in re.findall(f"(?s).{{1,{SCREEN_LIMIT}}}", sequence))
    return sequence


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Send it past the screen: it changes nothing that is drawn there."""
    if app._driver is not None:
        app._driver.write(sequence)
