"""One entry in the layout of the transcript."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.registry import kind_of

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Entry
    from acp_tui.ui.drawing.body import Body


@dataclass(slots=True)
class EntryBlock:
    """One entry. It has a body (its drawn content) only if it has been near the viewport."""

    entry: Entry
    folded: bool | None = None  # as the user chose; None: as usual for its kind
    body: Body | None = None  # None: never drawn or outdated, so the height is an estimate
    gap: int = 0  # blank lines above it
    painted: dict[int, tuple[Strip, Strip]] = field(default_factory=dict)
    """Cached lines, by number: the strip from the body, and the same strip with margin and colour filters."""

    def forget(self) -> None:
        """Drop the body. Needed after a change of the width, the theme or the folding."""
        self.body = None
        self.painted.clear()


def gap_between(before: Entry | None, entry: Entry) -> int:
    """Return the number of blank lines between two entries. Folding does not change this number."""
    if before is None:
        return 1
    above, below = kind_of(before).spacing, kind_of(entry).spacing
    if "paragraph" in (above, below):
        return 1
    return 0 if below == "remark" or (_is_short(before) and _is_short(entry)) else 1


def _is_short(entry: Entry) -> bool:
    """Return True if the entry starts folded, or if the spacing of its kind is not `compact`."""
    kind = kind_of(entry)
    return kind.spacing != "compact" or kind.starts_folded(entry)
