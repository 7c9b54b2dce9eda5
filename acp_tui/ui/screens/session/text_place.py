"""The place of a text in a session, such as a match of a search."""

from __future__ import annotations

from typing import NamedTuple


class TextPlace(NamedTuple):
    """A text in an entry of a session."""

    entry: int  # the entry's id
    text: str  # empty for the beginning of the entry
