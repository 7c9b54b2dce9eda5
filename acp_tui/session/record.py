"""Records of the log, and what a record changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session


Direction = Literal["sent", "received", "client"]


@dataclass(slots=True)
class Record:
    """A message that crossed the wire, or an action of the client."""

    at: float  # seconds since the epoch
    direction: Direction
    frame: Any  # decoded JSON; a `str` if a received line was not JSON; a dict for an action of the client


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


INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800

AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
NOT_ALLOWED = -32003
"""The user, a rule or the policy does not allow the request. This code is not part of the protocol."""
