"""Changes of a session that are collected while its screen is not visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.session.change import Change


class UndrawnChanges:
    """Keeps one change per entry and per session attribute, so a long turn in the background costs little."""

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._known: set[tuple[str, int | str | None]] = set()

    def add(self, changes: Iterable[Change]) -> None:
        """Add changes that were not drawn."""
        for change in changes:
            if change.kind == "reset":
                self._known.clear()  # the entries after it are others, perhaps with the same ids
            key = (change.kind, change.entry.id if change.entry is not None else change.fact)
            if key not in self._known:
                self._known.add(key)
                self._changes.append(change)

    def take(self) -> list[Change]:
        """Return the changes in their order, and forget them."""
        changes, self._changes = self._changes, []
        self._known.clear()
        return changes
