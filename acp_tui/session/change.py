"""A change that an event made to the session. The change tells views what to redraw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session

ChangeKind = Literal["added", "updated", "fact", "reset", "subagent"]


@dataclass(slots=True)
class Change:
    """A change to the session.

    The kind "reset" means that all entries must be drawn again; "subagent" means that `inner` is a change to
    the session of a subagent.
    """

    kind: ChangeKind
    entry: Entry | None = None  # the one that was added or updated
    fact: str | None = None  # the attribute of `Session` that has a new value
    session: Session | None = None  # of the subagent, if `kind` is "subagent"
    inner: Change | None = None  # likewise


def innermost(change: Change) -> Change:
    """Return the change itself, or the change that it reports of the session of a subagent."""
    while change.inner is not None:
        change = change.inner
    return change
