"""Shows progress in the tab or in the task bar of terminals that support OSC 9;4.

The sequence was introduced by ConEmu. Some terminals show OSC 9 as a notification instead. Unless
`terminal_progress` is on, the sequence is therefore only sent to terminals in a list that follows Cargo's:
https://github.com/rust-lang/cargo/blob/master/src/cargo/core/shell.rs
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, Protocol

from acp_tui.ui.terminal.passthrough import in_screen, in_tmux, wrap_for_multiplexer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acp_tui.ui.terminal.modes import TerminalModes

Activity = Literal["working", "asking", "failed"]

REPEAT_SECONDS = 10.0
"""The interval at which the progress is sent again: Ghostty removes it after 15 seconds without an update."""
MIN_VTE_VERSION = 7900
"""The first VTE_VERSION that supports progress."""
_CLEAR, _SHARE, _FAILED, _BUSY, _PAUSED = range(5)  # the states that OSC 9;4 can show


class StartedTimer(Protocol):
    """A timer that can be stopped."""

    def stop(self) -> None:
        """Stop the timer."""


class TabProgress:
    """Shows one state in the terminal's tab for all conversations together.

    The state is "paused" if any conversation waits for the user, else "working" if any agent is working, else
    "failed" if any conversation has failed. Otherwise, no state is shown.
    """

    def __init__(
        self,
        modes: TerminalModes,
        environ: Mapping[str, str],
        start_timer: Callable[[float, Callable[[], None]], StartedTimer],
    ) -> None:
        """`start_timer` takes an interval in seconds, and the function to call at that interval."""
        self._modes = modes
        self._environ = environ
        self._start_timer = start_timer
        self._enabled = False  # until the settings have been read
        self._activities: dict[object, tuple[Activity, float | None]] = {}
        self._shown = ""
        self._timer: StartedTimer | None = None

    def configure(self, setting: str) -> None:
        """Apply the setting `terminal_progress`: on, off or auto."""
        self._enabled = setting == "on" or (setting == "auto" and supports_progress(self._environ))
        self._update()

    def show(self, owner: object, activity: Activity | None, share: float | None = None) -> None:
        """Show what the conversation `owner` is doing; nothing if `activity` is None.

        `share` is the completed part of the conversation's plan, from 0 to 1.
        """
        if activity is None:
            self._activities.pop(owner, None)
        else:
            self._activities[owner] = (activity, share)
        self._update()

    def _update(self) -> None:
        sequence = self._sequence() if self._enabled and self._activities else ""
        if sequence == self._shown:
            return
        self._shown = sequence
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if sequence:
            self._repeat()
            self._timer = self._start_timer(REPEAT_SECONDS, self._repeat)
        else:
            self._modes.unset("progress")

    def _repeat(self) -> None:
        self._modes.set("progress", on=self._shown, off=self._osc(_CLEAR, 0))

    def _sequence(self) -> str:
        activities = {activity for activity, _ in self._activities.values()}
        shares = [share for activity, share in self._activities.values() if activity == "working"]
        if "asking" in activities:
            return self._osc(_PAUSED, 100)
        if shares:
            share = shares[0] if len(shares) == 1 else None
            return self._osc(_BUSY, 0) if share is None else self._osc(_SHARE, round(100 * share))
        return self._osc(_FAILED, 100)

    def _osc(self, state: int, percent: int) -> str:
        # Inside GNU screen's own sequence, the terminator ESC \ would end that sequence.
        end = "\x07" if in_screen(self._environ) else "\x1b\\"
        return wrap_for_multiplexer(f"\x1b]9;4;{state};{percent}{end}", self._environ)


def supports_progress(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to show progress.

    Returns False in tmux and GNU screen, because the environment there may describe another terminal.
    """
    if in_tmux(environ) or in_screen(environ):
        return False
    vte = environ.get("VTE_VERSION", "")
    features = re.findall(r"[A-Z][a-z]*\d*", environ.get("TERM_FEATURES", ""))  # of iTerm2
    return (
        "WT_SESSION" in environ  # Windows Terminal
        or environ.get("ConEmuANSI") == "ON"
        or environ.get("TERM_PROGRAM") in ("ghostty", "WezTerm")
        or environ.get("TERM") == "xterm-ghostty"
        or "P" in features
        or (vte.isdecimal() and int(vte) >= MIN_VTE_VERSION)
    )
