"""Finds the row in `kind_table` that describes an entry's kind.

The table is imported on first use, not with this module, so that a new conversation appears sooner.
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
    """Return the row of `kind_table` that describes the kind of an entry."""
    return kinds()[type(entry)]
