"""Detects agents that edit files or run commands without ever asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Notice, Permission, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session

ACTING_KINDS = frozenset({"edit", "delete", "move", "execute"})
ANSWER_SOURCES = frozenset({"you", "rule", "policy"})
"""Sources of notices about a decision."""


class UnaskedActions:
    """Checks new entries and open tool calls only, so that a frame stays cheap."""

    def __init__(self) -> None:
        self._entries: list[Entry] | None = None
        self._looked_at = 0  # so many of them
        self._open: list[ToolCall] = []
        self._acted = False
        self._asked = False

    @property
    def unasked(self) -> bool:
        """True if the agent has acted and never asked."""
        return self._acted and not self._asked

    def update(self, session: Session) -> None:
        """Check what is new. Only completed calls count: some agents announce a call before they ask."""
        if session.entries is not self._entries:  # a session was made, or another history loaded
            self._entries, self._looked_at, self._open = session.entries, 0, []
            self._acted = self._asked = False
        for entry in self._entries[self._looked_at :]:
            if isinstance(entry, ToolCall):
                self._open.append(entry)
            elif _is_decision(entry):
                self._asked = True
        self._looked_at = len(self._entries)
        self._acted |= any(_has_acted(call, session) for call in self._open)
        self._open = [call for call in self._open if not call.done]


def _is_decision(entry: Entry) -> bool:
    """Return True if the agent asked, or acted through acp-tui, which asks."""
    return isinstance(entry, Permission) or (isinstance(entry, Notice) and entry.source in ANSWER_SOURCES)


def _has_acted(call: ToolCall, session: Session) -> bool:
    """Return True for a completed action. Calls in a loaded history do not count: it lacks the questions."""
    history = session.phase == "loading" or 0 < call.turn <= session.replayed
    return not history and call.status == "completed" and call.kind in ACTING_KINDS
