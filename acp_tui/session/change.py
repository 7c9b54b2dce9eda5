"""What an event changed in the session; views use it to update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from acp_tui.session.state import Entry

ChangeKind = Literal["added", "updated", "fact", "reset"]


@dataclass(slots=True)
class Change:
    """One change to the session.

    `added` and `updated` name the entry, `fact` the attribute of `Session` that has a new value;
    `reset` means that the entries were replaced as a whole.
    """

    kind: ChangeKind
    entry: Entry | None = None
    fact: str | None = None
