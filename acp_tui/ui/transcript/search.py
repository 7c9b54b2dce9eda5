"""Search in a transcript: counts matches and moves between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.registry import kind_of

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.transcript.view import TranscriptView

_MARKS = r"(?<!\w)[*_`~]+|[*_`~]+(?!\w)"
"""Markdown marks around words, which are not displayed. Inside words they are: `snake_case`, `2*3`."""


class TranscriptSearch:
    """Finds a text in the entries. Only entries with matches are drawn for it."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self._counts: dict[int, int] = {}  # entries with hits, and how many are in the source text of each
        self._at: tuple[int, int] | None = None  # the hit looked at: entry, and number in it

    @property
    def total(self) -> int:
        """The number of matches."""
        return sum(self._counts.values())

    @property
    def number(self) -> int:
        """The number of the current match; 0 if there is none."""
        if self._at is None:
            return 0
        looked_at, hit = self._at
        before = sum(count for entry, count in self._counts.items() if entry < looked_at)
        return before + min(hit + 1, self._counts.get(looked_at, 1))

    def search(self, needle: str) -> None:
        """Search for a text, ignoring case."""
        self._view.marking.needle = needle.lower()
        self._view.marking.current = None
        self._at = None
        self._count()
        self._view.refresh()

    def clear(self) -> None:
        """End the search."""
        self.search("")

    def _count(self) -> None:
        """Count the matches, including those in new entries."""
        layout, needle = self._view.entry_layout, self._view.marking.needle
        self._counts = {}
        for block in layout.blocks if needle else ():
            if count := _count_in(block.entry, layout.session, needle):
                self._counts[block.entry.id] = count

    def move(self, step: int) -> bool:
        """Move to the next (1) or previous (-1) line with a match. Return False if there is none."""
        self._count()
        if not self._counts:
            return False
        entry, hit = self._start(step)
        lines = self._lines(entry)
        if not 0 <= hit < len(lines):
            entry = self._beside(entry, step)
            lines = self._lines(entry)
            hit = 0 if step > 0 else len(lines) - 1
        self._at = entry, hit
        self._view.marking.current = entry, lines[hit]
        self._view.scroll_to_entry(entry, lines[hit])
        self._view.refresh()
        return True

    def _start(self, step: int) -> tuple[int, int]:
        if self._at is not None and self._at[0] in self._counts:
            entry, hit = self._at
            return entry, hit + step
        return next(iter(self._counts)), 0 if step > 0 else -1

    def _beside(self, entry: int, step: int) -> int:
        """The next or previous entry with matches, wrapping around."""
        entries = list(self._counts)
        return entries[(entries.index(entry) + step) % len(entries)]

    def _lines(self, entry_id: int) -> list[int]:
        """The drawn lines of an entry that hold a hit, for which it is unfolded; the first where none does:
        the text is in what the transcript leaves out, or broken in two."""
        view, needle = self._view, self._view.marking.needle
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
    return re.sub(_MARKS, "", text).count(needle) if all(map(text.__contains__, needle.split())) else 0
