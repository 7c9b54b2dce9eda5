"""Changes of a session that are collected while its screen is not visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from acp_tui.session.change import Change


class UndrawnChanges:
    """Keeps one change of each kind for each entry, and one change for each session attribute.

    Changes of a subagent are kept separately for each subagent. Without repeated changes, a long turn in
    the background needs less memory and drawing time.
    """

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._known: set[Hashable] = set()

    def add(self, changes: Iterable[Change]) -> None:
        """Add changes that were not drawn."""
        for change in changes:
            key = _key(change)
            if key not in self._known:
                self._known.add(key)
                self._changes.append(change)

    def take(self) -> list[Change]:
        """Return the changes in their order, and forget them."""
        changes, self._changes = self._changes, []
        self._known.clear()
        return changes


def _key(change: Change) -> Hashable:
    """Return what the change is about."""
    if change.inner is not None:
        return (id(change.session), _key(change.inner))
    return (change.kind, change.entry.id if change.entry is not None else change.fact)
