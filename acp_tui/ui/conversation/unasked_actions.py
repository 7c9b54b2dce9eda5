"""Does the agent edit and run things without ever having asked?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Notice, Permission, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session

ACTING_KINDS = frozenset({"edit", "delete", "move", "execute"})
ANSWER_SOURCES = frozenset({"you", "rule", "policy"})
"""Sources of a line that tells what became of a question: the agent acts through us, and we ask."""


class UnaskedActions:
    """Looks at each entry until it is known what came of it; a frame costs no more than what is open."""

    def __init__(self) -> None:
        self._entries: list[Entry] | None = None
        self._looked_at = 0  # so many of them
        self._open: list[ToolCall] = []
        self._acted = False
        self._asked = False

    @property
    def unasked(self) -> bool:
        """Has it acted, and never asked?"""
        return self._acted and not self._asked

    def update(self, session: Session) -> None:
        """See what is new. Only a completed call has acted: some agents say that they begin, and then ask."""
        if session.entries is not self._entries:  # a session was made, or another history loaded
            self._entries, self._looked_at, self._open = session.entries, 0, []
            self._acted = self._asked = False
        for entry in self._entries[self._looked_at :]:
            if isinstance(entry, ToolCall):
                self._open.append(entry)
            elif isinstance(entry, Permission) or (
                isinstance(entry, Notice) and entry.source in ANSWER_SOURCES
            ):
                self._asked = True
        self._looked_at = len(self._entries)
        self._acted |= any(_has_acted(call, session) for call in self._open)
        self._open = [call for call in self._open if not call.done]


def _has_acted(call: ToolCall, session: Session) -> bool:
    """In a history the questions are missing, so nothing can be said of its calls."""
    history = session.phase == "loading" or 0 < call.turn <= session.replayed
    return not history and call.status == "completed" and call.kind in ACTING_KINDS
