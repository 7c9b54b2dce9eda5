"""Control sequences for the terminal: modes, background, title, progress, and passing through tmux."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message

from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer


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
    return f"\x1b]{';'.join(map(escape_line, fields))}\x07"


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


class TerminalModes:
    """The terminal modes that are on, each with the escape sequences that turn it on and off.

    The driver turns all modes on when it takes the terminal, and off when it releases the terminal.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        """`send` writes to the terminal. It must do nothing while another program uses the terminal."""
        self._send = send
        self._modes: dict[str, tuple[str, str]] = {}

    def set(self, name: str, on: str, off: str) -> None:
        """Turn a mode on. `on` is written now and whenever acp-tui gets the terminal back.

        `off` is written whenever acp-tui releases the terminal.
        """
        self._modes[name] = (on, off)
        self._send(on)

    def unset(self, name: str) -> None:
        """Turn a mode off, if it is on. It stays off until `set` turns it on again."""
        if name in self._modes:
            self._send(self._modes.pop(name)[1])

    @property
    def all_on(self) -> str:
        """The sequences that turn all modes on."""
        return "".join(on for on, _ in self._modes.values())

    @property
    def all_off(self) -> str:
        """The sequences that turn all modes off."""
        return "".join(off for _, off in self._modes.values())


SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class WindowTitle:
    """Sets the window's title on behalf of a conversation. `release` restores the original title."""

    def __init__(self, send: Callable[[str], None]) -> None:
        """`send` writes an escape sequence to the terminal."""
        self._send = send
        self._title = ""
        self._owner: object | None = None

    def show(self, owner: object, title: str) -> None:
        """Show a title on behalf of `owner`. It replaces the current title, even that of another owner."""
        if title != self._title:
            self._send(f"{'' if self._title else SAVE_TITLE}{osc('2', title)}")
        self._owner, self._title = owner, title

    def release(self, owner: object) -> None:
        """Restore the title that the window had before acp-tui, if the current title belongs to `owner`."""
        if self._owner is owner:
            self._send(RESTORE_TITLE)
            self._owner, self._title = None, ""


Activity = Literal["working", "asking", "failed"]

REPEAT_SECONDS = 10.0
"""The interval at which the progress is sent again: Ghostty removes it after 15 seconds without an update."""
MIN_VTE_VERSION = 7900
"""The first VTE_VERSION that supports progress."""
_CLEAR, _SHARE, _FAILED, _BUSY, _PAUSED = range(5)  # the states that OSC 9;4 can show


class TabProgress:
    """Shows one state in the terminal's tab for all conversations together.

    The state is "paused" if any conversation waits for the user, else "working" if any agent is working, else
    "failed" if any conversation has failed. Otherwise, no state is shown.
    """

    def __init__(
        self,
        modes: TerminalModes,
        environ: Mapping[str, str],
        start_timer: Callable[[float, Callable[[], None]], Timer],
    ) -> None:
        """`start_timer` takes an interval in seconds, and the function to call at that interval."""
        self._modes = modes
        self._environ = environ
        self._start_timer = start_timer
        self._enabled = False  # until the settings have been read
        self._activities: dict[object, tuple[Activity, float | None]] = {}
        self._shown = ""
        self._timer: Timer | None = None

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
