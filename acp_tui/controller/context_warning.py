"""Warns the user when the agent's context window is filled to the percentage set as `context_warning`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.session.events import Noticed
from acp_tui.session.usage_text import compact_command, context_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.state import Session

HYSTERESIS = 0.05
"""How far usage must fall below the threshold, as a share of the window, to rearm the warning."""


class ContextWarning:
    """Adds a notice when the usage of the context window rises to the threshold.

    The next notice can follow once the usage has fallen to `HYSTERESIS` below the threshold.
    """

    def __init__(self, session: Session, percent: int, note: Callable[[Event], None]) -> None:
        """The threshold is `percent` of the context window; 0 turns the warning off."""
        self._session = session
        self._threshold = percent / 100
        self._note = note
        self._warned = False

    def see(self, changes: Iterable[Change]) -> None:
        """If one of the changes updates the usage of the context window, check the usage."""
        if self._threshold and any(change.fact == "usage" for change in changes):
            self._check()

    def _check(self) -> None:
        usage = self._session.usage
        share = context_share(usage.used, usage.size)
        if share is None:
            return
        if share < self._threshold:
            self._warned = self._warned and share > self._threshold - HYSTERESIS
        elif not self._warned:
            self._warned = True
            # Called later, because other listeners must see the agent's usage update before this notice.
            asyncio.get_running_loop().call_soon(self._note, Noticed("warning", self._sentence(share)))

    def _sentence(self, share: float) -> str:
        command = compact_command(self._session)
        advice = (
            f"Send {command} to have the agent summarise the conversation."
            if command
            else "The agent may soon forget the beginning of the conversation."
        )
        return f"The context window is {share:.0%} full. {advice}"
