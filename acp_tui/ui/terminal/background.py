"""Finds out whether the terminal's background is dark or light, at the start and when the background changes.

OSC 11 asks for the colour; most terminals answer. Mode 2031 makes newer terminals report a switch between
dark and light: https://contour-terminal.org/vt-extensions/color-palette-update-notifications/
acp-tui does not wait for the answers, because they may come late or never.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.message import Message

from acp_tui.ui.terminal.passthrough import in_screen, wrap_for_multiplexer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acp_tui.ui.terminal.passthrough import TerminalModes


ASK_COLOUR = "\x1b]11;?\x07"
REPORT_CHANGES, STOP_REPORTS = "\x1b[?2031h", "\x1b[?2031l"

_COLOUR = re.compile(
    r"rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})(?:/[0-9a-f]{1,4})?", re.IGNORECASE
)
_BRIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue, as Neovim weights them


class BackgroundReply(Message):
    """Reports whether the terminal's background is dark, judged by its colour or by the colour scheme."""

    def __init__(self, *, dark: bool, from_colour: bool) -> None:
        super().__init__()
        self.dark = dark
        self.from_colour = from_colour


class BackgroundWatcher:
    """Asks the terminal for its background, and remembers whether the background is dark."""

    def __init__(self, modes: TerminalModes, send: Callable[[str], None], environ: Mapping[str, str]) -> None:
        self.dark = background_hint(environ) is not False
        """Whether the background is dark; True until COLORFGBG or a reply says otherwise."""
        self._modes = modes
        self._send = send
        self._environ = environ
        self._colour_is_known = False
        self._started = False

    def start(self) -> None:
        """Ask the terminal for its background now, and again whenever acp-tui gets the terminal back.

        Only the first call has an effect. The Linux console is not asked.
        """
        if self._started:
            return
        self._started = True
        if self._environ.get("TERM") != "linux":  # the console of older kernels prints the query
            queries = f"{self._colour_query}{REPORT_CHANGES}"
            self._modes.set("background", on=queries, off=STOP_REPORTS)

    def receive(self, reply: BackgroundReply) -> bool:
        """Update `dark` from a reply of the terminal. Return True if `dark` has changed.

        Once the colour is known, a report of the colour scheme only makes acp-tui ask for the colour again.
        """
        if reply.from_colour:
            self._colour_is_known = True
        elif self._colour_is_known:  # the colour is more reliable: the report may be about the desktop
            self._send(self._colour_query)
            return False
        changed, self.dark = reply.dark != self.dark, reply.dark
        return changed

    @property
    def _colour_query(self) -> str:
        # tmux answers a plain query itself, and drops the terminal's answer to a wrapped one. GNU screen does
        # not answer, but passes a wrapped query on to the terminal.
        return wrap_for_multiplexer(ASK_COLOUR, self._environ) if in_screen(self._environ) else ASK_COLOUR


def is_dark(colour: str) -> bool | None:
    """Return whether a colour such as `rgb:ffff/ffff/ffff` is dark; None if `colour` has another form."""
    if (match := _COLOUR.fullmatch(colour)) is None:
        return None
    shares = (int(part, 16) / (16 ** len(part) - 1) for part in match.groups())
    brightness: float = sum(share * weight for share, weight in zip(shares, _BRIGHTNESS, strict=True))
    return brightness < 0.5


def background_hint(environ: Mapping[str, str]) -> bool | None:
    """Return whether the background is dark according to the variable COLORFGBG.

    Some terminals set this variable. Returns None if the variable is missing or not valid.
    """
    number = environ.get("COLORFGBG", "").rpartition(";")[2]
    return int(number) in (*range(7), 8) if re.fullmatch("[0-9]|1[0-5]", number) else None
