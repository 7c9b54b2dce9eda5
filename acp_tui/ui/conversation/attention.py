"""Window title, tab progress, bell and notifications, for users who do not look at the conversation.

The window title and the progress in the terminal's tab show the phase of the conversation. The user is
alerted when a turn ends, and when the agent asks a question or sends a message: acp-tui rings the bell, shows
a notification and runs `notify_command`, as configured. While the window has the focus, only a question in
another conversation causes an alert. In a terminal that does not report focus, the window is treated as
focused.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from acp_tui.session.safe_text import escape_line
from acp_tui.ui.dialogs.base_screen import BaseScreen, app_of
from acp_tui.ui.terminal.passthrough import Activity, osc, wrap_for_multiplexer, write_to_terminal

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings
    from acp_tui.config.validators import Problem
    from acp_tui.ui.widgets.status_line import StatusFacts


_log = logging.getLogger(__name__)

Kind = Literal["done", "needs_you", "message"]

MAX_TEXT_LENGTH = 80
"""The maximum length of the agent's text in a title or a notification."""
BUSY_PHASES = frozenset({"working", "cancelling", "asking"})
_TITLES = {"working": "● working", "cancelling": "● stopping", "asking": "? needs you", "dead": "✘ ended"}
_HEADINGS = {"needs_you": "a question", "done": "done", "message": "a message"}
_OSC_777 = ("foot", "rxvt")
"""Prefixes of TERM in terminals that use OSC 777 for notifications. `VTE_VERSION` identifies others."""


class Attention:
    """Watches the phase of one conversation, and alerts the user to questions and ended turns."""

    def __init__(self, screen: BaseScreen, environ: Mapping[str, str] | None = None) -> None:
        """`environ` is by default the environment of the process."""
        self._screen = screen
        self._environ = os.environ if environ is None else environ
        self._phase = ""
        self._is_stopped = False
        self._running: list[subprocess.Popen[bytes]] = []
        self._mode = "off"  # until the settings have been read
        self._command: Sequence[str] = ()

    def configure(self, settings: Settings) -> list[Problem]:
        """Apply the settings and return the problems with them."""
        self._mode, self._command = settings.notify, settings.notify_command
        app_of(self._screen).tab_progress.configure(settings.terminal_progress)
        return notify_command_problems(settings)

    def update(self, facts: StatusFacts, question: str = "") -> None:
        """Update the terminal's title and progress. Alert the user to a new question or the end of the turn.

        `question` is the title of the question that waits for the user; empty if no question waits.
        """
        if self._is_stopped:
            return
        phase = facts.phase
        self._show_title(phase, facts)
        app_of(self._screen).tab_progress.show(self, _activity(facts), facts.plan_share)
        before, self._phase = self._phase, phase
        is_seen = self._screen.app.app_focus and (self._screen.is_in_front or phase != "asking")
        if phase == before or is_seen:
            return
        agent, where = _short(facts.agent), f" – {_short(facts.project)}" if facts.project else ""
        if phase == "asking":
            about = f": {_short(question)}" if question else ""
            self._alert("needs_you", f"{agent} needs you{about}{where}")
        elif before in BUSY_PHASES and phase not in BUSY_PHASES:
            self._alert("done", f"{agent} {'has ended' if phase == 'dead' else 'is done'}{where}")

    def send_message(self, agent: str, message: str) -> None:
        """Alert the user to a message from the agent, unless the window has the focus."""
        if not self._screen.app.app_focus:
            self._alert("message", f"{_short(agent)}: {_short(message)}")

    def stop(self) -> None:
        """Restore the window title, and remove the progress indicator. Later calls of `update` do nothing."""
        self._is_stopped = True
        app_of(self._screen).window_title.release(self)
        app_of(self._screen).tab_progress.show(self, None)

    def _show_title(self, phase: str, facts: StatusFacts) -> None:
        if self._mode != "off" and self._screen.is_in_front:
            parts = [_TITLES.get(phase, "acp-tui"), *map(_short, filter(None, (facts.title, facts.project)))]
            app_of(self._screen).window_title.show(self, " – ".join(parts))

    def _alert(self, kind: Kind, text: str) -> None:
        if self._mode in ("bell", "all"):
            write_to_terminal(self._screen.app, "\x07" * (2 if kind == "needs_you" else 1))
        if self._mode in ("terminal", "all"):
            write_to_terminal(
                self._screen.app, wrap_for_multiplexer(self._notification(kind, text), self._environ)
            )
        if self._command:
            self._run(kind, text)

    def _notification(self, kind: Kind, text: str) -> str:
        term = self._environ.get("TERM", "")
        if self._environ.get("VTE_VERSION") or term.startswith(_OSC_777):
            return osc("777", "notify", f"acp-tui: {_HEADINGS[kind]}", text)
        return osc("9", f"acp-tui: {text}")

    def _run(self, kind: Kind, text: str) -> None:
        """Start `notify_command` without a shell, and do not wait for the command to end."""
        for process in self._running:
            if process.poll():
                _log.warning("notify_command ended with exit code %d", process.returncode)
        self._running = [process for process in self._running if process.poll() is None]
        try:
            self._running.append(
                subprocess.Popen(
                    expand_command(self._command, kind, text),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    env={**self._environ, "ACP_TUI_NOTIFY_KIND": kind, "ACP_TUI_NOTIFY_TEXT": text},
                )
            )
        except (OSError, ValueError) as error:
            _log.warning("notify_command cannot be run: %s", error)


def _activity(facts: StatusFacts) -> Activity | None:
    if facts.phase in BUSY_PHASES:
        return "asking" if facts.phase == "asking" else "working"
    return "failed" if facts.phase == "dead" or (facts.phase == "idle" and facts.failed) else None


def notify_command_problems(settings: Settings) -> list[Problem]:
    """Return a problem if `notify_command` names a program that does not exist."""
    from acp_tui.config.validators import Problem

    command = settings.notify_command
    if not command or shutil.which(command[0]):
        return []
    origin = settings.origin("notify_command")
    sentence = f"program not found: {command[0]}"
    return [Problem(origin.file, origin.line, "notify_command", sentence)]


def expand_command(command: Sequence[str], kind: Kind, text: str) -> list[str]:
    """Fill in the arguments `{kind}` and `{text}` of a command; if neither exists, append both values.

    Only whole arguments are replaced: the agent influences the text and must not inject shell code.
    """
    filled = [{"{kind}": kind, "{text}": text}.get(word, word) for word in command]
    return filled if filled != list(command) else [*filled, kind, text]


def _short(text: str) -> str:
    """Shorten text to one line without control characters or semicolons.

    Semicolons separate the fields of OSC 777.
    """
    line = " ".join(escape_line(text[: 4 * MAX_TEXT_LENGTH]).replace(";", ",").split())
    return line if len(line) <= MAX_TEXT_LENGTH else f"{line[: MAX_TEXT_LENGTH - 1]}…"
