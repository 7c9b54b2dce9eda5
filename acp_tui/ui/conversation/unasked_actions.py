"""Detects agents that edit files or run commands without ever asking for permission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Notice, Permission, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session

ACTING_KINDS = frozenset({"edit", "delete", "move", "execute"})
ANSWER_SOURCES = frozenset({"you", "rule", "policy"})
"""The sources of notices that report how a permission request was decided."""


class UnaskedActions:
    """Tracks whether the agent has acted, and whether it ever asked for permission.

    `update` checks only new entries and unfinished tool calls.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] | None = None
        self._checked_counts: dict[str, int] = {}  # the number of entries checked, by subagent; "": the agent
        self._open_calls: list[ToolCall] = []
        self._acted = False
        self._asked = False

    @property
    def unasked(self) -> bool:
        """True if the agent has acted without ever asking for permission."""
        return self._acted and not self._asked

    def update(self, session: Session) -> None:
        """Check new entries.

        Only completed calls count as actions: some agents announce a call before they ask for permission.
        """
        if session.entries is not self._entries:  # another session, or its history was loaded again
            self._entries, self._checked_counts, self._open_calls = session.entries, {}, []
            self._acted = self._asked = False
        self._check("", self._entries)
        for key, subagent in session.subagents.items():
            self._check(key, subagent.session.entries)
        self._acted |= any(_has_acted(call, session) for call in self._open_calls)
        self._open_calls = [call for call in self._open_calls if not call.done]

    def _check(self, key: str, entries: list[Entry]) -> None:
        """Note the tool calls and requests in new entries. `key` is the subagent, or empty for the agent."""
        for entry in entries[self._checked_counts.get(key, 0) :]:
            if isinstance(entry, ToolCall):
                self._open_calls.append(entry)
            elif _is_decision(entry):
                self._asked = True
        self._checked_counts[key] = len(entries)


def _is_decision(entry: Entry) -> bool:
    """Return True if the entry is a permission request, or reports a decision (see `ANSWER_SOURCES`)."""
    return isinstance(entry, Permission) or (isinstance(entry, Notice) and entry.source in ANSWER_SOURCES)


def _has_acted(call: ToolCall, session: Session) -> bool:
    """Return True if the call is a completed action.

    Calls in loaded history do not count, because the history lacks the permission requests.
    """
    in_history = session.phase == "loading" or 0 < call.turn <= session.replayed
    return not in_history and call.status == "completed" and call.kind in ACTING_KINDS
