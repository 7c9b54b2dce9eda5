"""The place of a text in a session, such as a match of a search."""

from __future__ import annotations

from typing import NamedTuple


class TextPlace(NamedTuple):
    """Where a text is: the entry that contains it, and the text itself."""

    entry: int  # the entry's id
    text: str  # empty for the beginning of the entry
