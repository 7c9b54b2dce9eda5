"""Search in a transcript: counts matches and moves between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.kind_table import kind_of

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.transcript.view import TranscriptView

_MARKS = re.compile(r"(?<!\w)[*_`~]+|[*_`~]+(?!\w)")
"""Matches Markdown marks that are not displayed: those around words, not those inside, as in `snake_case`."""


class TranscriptSearch:
    """Counts a needle in the entries' texts, because drawing all entries is slow. Moves by drawn lines."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self._counts: dict[int, int] = {}  # the number of matches in the source text, by entry id
        self._current: tuple[int, int] | None = None  # the entry's id, and the index of the match in it

    @property
    def total(self) -> int:
        """The number of matches."""
        return sum(self._counts.values())

    @property
    def number(self) -> int:
        """The position of the current match among all matches, from 1; 0 if no match is current.

        The position is approximate: matches are counted in the texts, but `move` moves by drawn lines.
        """
        if self._current is None:
            return 0
        entry, match = self._current
        before = sum(count for other, count in self._counts.items() if other < entry)
        return before + min(match + 1, self._counts.get(entry, 1))

    def search(self, needle: str) -> None:
        """Search for text, ignoring case."""
        self._view.highlight.needle = needle.lower()
        self._view.highlight.current = None
        self._current = None
        self._count()
        self._view.refresh()

    def clear(self) -> None:
        self.search("")

    def _count(self) -> None:
        """Count the matches in all entries again, because entries may be new or changed."""
        layout, needle = self._view.entry_layout, self._view.highlight.needle
        self._counts = {}
        for block in layout.blocks if needle else ():
            if count := _count_in(block.entry, layout.session, needle):
                self._counts[block.entry.id] = count

    def move(self, step: int) -> bool:
        """Move to the next (1) or previous (-1) line with a match, wrapping around.

        If no drawn line of an entry contains the match, move to the entry's first line. If the current entry
        no longer has a match, start again at the first (1) or last (-1) entry with a match. Return False if
        no entry has a match.
        """
        self._count()
        if not self._counts:
            return False
        entry, match = self._candidate(step)
        lines = self._lines(entry)
        if not 0 <= match < len(lines):
            entry = self._neighbour(entry, step)
            lines = self._lines(entry)
            match = 0 if step > 0 else len(lines) - 1
        self._show(entry, match, lines[match])
        return True

    def move_to(self, entry_id: int) -> None:
        """Move to the first line with a match in an entry; if no line matches, to the entry's first line."""
        self._count()
        self._show(entry_id, 0, self._lines(entry_id)[0])

    def _show(self, entry_id: int, match: int, line: int) -> None:
        self._current = entry_id, match
        self._view.highlight.current = entry_id, line
        self._view.scroll_to_entry(entry_id, line)
        self._view.refresh()

    def _candidate(self, step: int) -> tuple[int, int]:
        """Return the entry and the match to move to: the entry's id, and the index of the match in the entry.

        If the index is out of range, the caller must move to the next or previous entry instead.
        """
        if self._current is not None and self._current[0] in self._counts:
            entry, match = self._current
            return entry, match + step
        return next(iter(self._counts)), 0 if step > 0 else -1

    def _neighbour(self, entry: int, step: int) -> int:
        """Return the id of the next (1) or previous (-1) entry with matches, wrapping around."""
        entries = list(self._counts)
        return entries[(entries.index(entry) + step) % len(entries)]

    def _lines(self, entry_id: int) -> list[int]:
        """Return the numbers of the drawn lines with a match in an entry. Unfold the entry if necessary.

        If no drawn line contains a match, return `[0]`: for example, if the match is in an omitted part or
        spans two lines.
        """
        view, needle = self._view, self._view.highlight.needle
        lines = view.lines_with(entry_id, needle)
        entry = view.entry(entry_id)
        if not lines and entry is not None and view.entry_layout.is_folded(entry):
            view.toggle_fold(entry_id)
            lines = view.lines_with(entry_id, needle)
        return lines or [0]


def _count_in(entry: Entry, session: Session, needle: str) -> int:
    """Count the matches in an entry. Markdown marks are ignored: `a word` matches `a **word**`."""
    kind = kind_of(entry)
    text = kind.searched_text(entry, session).lower()
    count = text.count(needle)
    if count or not kind.is_markdown:
        return count
    # Marks are removed only where all words occur: this runs over the whole conversation at every keystroke.
    return _MARKS.sub("", text).count(needle) if all(map(text.__contains__, needle.split())) else 0
