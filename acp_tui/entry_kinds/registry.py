"""Looks up the row of an entry in `kind_table`, where all kinds are registered.

The table is imported with the first entry, so that a new conversation appears without waiting for it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import EntryKind
    from acp_tui.session.state import Entry


@cache
def kinds() -> dict[type[Entry], EntryKind]:
    """Return the rows of `kind_table`, by type of entry."""
    from acp_tui.entry_kinds.kind_table import KINDS

    return KINDS


def kind_of(entry: Entry) -> EntryKind:
    """Return the row that describes the kind of an entry."""
    return kinds()[type(entry)]
