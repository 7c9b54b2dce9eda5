"""One line of the wire log: the unit from which a session is folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["sent", "received", "client"]


@dataclass(slots=True)
class Record:
    """A message that crossed the wire, or an action of the client."""

    at: float  # seconds since the epoch
    direction: Direction
    frame: Any  # the decoded JSON; a `str` when a received line was not JSON; a client event as a dict
