"""A record of the wire log. Sessions are computed from such records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["sent", "received", "client"]


@dataclass(slots=True)
class Record:
    """A message that crossed the wire, or an action of the client."""

    at: float  # seconds since the epoch
    direction: Direction
    frame: Any  # decoded JSON; a `str` if a received line was not JSON; a dict for an action of the client
