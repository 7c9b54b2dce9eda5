"""The classes for hunks and rows.

`difference` makes hunks by comparing two texts; `patch` reads hunks from a patch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from acp_tui.diffing.word_diff import CharRange, changed_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NO_NEWLINE = "No newline at end of file"
Kind = Literal["same", "removed", "added", "gap", "note", "more", "file"]


class Row(NamedTuple):
    """A row of the unified view, which shows the old and new lines of a difference in one column."""

    kind: Kind
    text: str
    old: int | None = None  # the line number in the old text, from 1
    new: int | None = None
    change: LineChange | None = None  # the change that it is part of
    at: int = 0  # the index in the removed or added lines of the change

    @property
    def is_line(self) -> bool:
        """Whether this row is a line of the old or the new text, and not a gap or a note."""
        return self.kind in ("same", "removed", "added")


class LineChange:
    """Removed lines and the lines that replaced them. One of the two lists can be empty."""

    __slots__ = ("_marks", "added", "added_open", "removed", "removed_open")

    def __init__(
        self,
        removed: Sequence[str],
        added: Sequence[str],
        *,
        removed_open: bool = False,
        added_open: bool = False,
    ) -> None:
        self.removed = removed
        self.added = added
        self.removed_open = removed_open
        """Whether the newline after the last removed line is missing."""
        self.added_open = added_open
        self._marks: dict[int, tuple[list[CharRange], list[CharRange]]] = {}

    def pair(self, at: int) -> tuple[str, str] | None:
        """Return the removed and the added line at index `at`; None unless both exist."""
        if at < len(self.removed) and at < len(self.added):
            return self.removed[at], self.added[at]
        return None

    def marks(self, row: Row) -> list[CharRange]:
        """Return the ranges of a row's text that differ from the text of its counterpart.

        The counterpart of a removed line is the line that replaced it, and the other way round. The result is
        empty if the row has no counterpart, or if the two texts have little in common.
        """
        pair = self.pair(row.at)
        if pair is None:
            return []
        if row.at not in self._marks:
            self._marks[row.at] = changed_words(*pair)
        return self._marks[row.at][row.kind == "added"]


class Hunk(NamedTuple):
    """Changes close to each other, and the unchanged lines around them."""

    parts: list[Sequence[str] | LineChange]
    old: int  # the number of the hunk's first line in the old text
    new: int
    hidden: int | None = None  # unchanged lines omitted before it; None if unknown
    heading: str = ""  # from the hunk header of a patch, such as the enclosing function
    notes: tuple[str, ...] = ()  # lines before it, such as the name of another file

    @property
    def changes(self) -> Iterator[LineChange]:
        """The changes, without the unchanged lines."""
        return (part for part in self.parts if isinstance(part, LineChange))

    @property
    def size(self) -> int:
        """The number of lines in the hunk."""
        return sum(
            len(part.removed) + len(part.added) if isinstance(part, LineChange) else len(part)
            for part in self.parts
        )

    def rows(self) -> Iterator[Row]:
        """Yield the rows of `parts`: the lines, and notes about missing newlines."""
        old, new = self.old, self.new
        for part in self.parts:
            if isinstance(part, LineChange):
                yield from _change_rows(part, old, new)
                old += len(part.removed)
                new += len(part.added)
            else:
                for text in part:
                    yield Row("same", text, old, new)
                    old += 1
                    new += 1


def _change_rows(change: LineChange, old: int, new: int) -> Iterator[Row]:
    for at, text in enumerate(change.removed):
        yield Row("removed", text, old + at, None, change, at)
    if change.removed_open:
        yield Row("note", NO_NEWLINE, old, None, change)
    for at, text in enumerate(change.added):
        yield Row("added", text, None, new + at, change, at)
    if change.added_open:
        yield Row("note", NO_NEWLINE, None, new, change)
