"""The search in a transcript: hits, and the way from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import (
    Compaction,
    Content,
    Diff,
    Message,
    Notice,
    Permission,
    Plan,
    ToolCall,
    TurnEnd,
    Unrecognised,
)
from acp_tui.session.text import visible_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.session.state import Entry
    from acp_tui.ui.widgets.transcript.view import TranscriptView


class Finder:
    """Finds a text in the entries. Only entries that hold it are ever drawn for that."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self._counts: list[tuple[int, int]] = []  # entries with hits: id, and how many in its source text
        self._at: tuple[int, int] | None = None  # the hit looked at: index into these, number in the entry

    @property
    def total(self) -> int:
        """How many hits there are."""
        return sum(count for _, count in self._counts)

    @property
    def number(self) -> int:
        """Which of them is looked at; 0: none yet."""
        if self._at is None:
            return 0
        index, hit = self._at
        before = sum(count for _, count in self._counts[:index])
        return before + min(hit + 1, self._counts[index][1])

    def search(self, needle: str) -> None:
        """Look for a text, capitals or not; the last hit is looked at first."""
        needle = needle.lower()
        self._view.marking.needle = needle
        self._view.marking.current = None
        self._counts = []
        self._at = None
        if needle:
            for block in self._view.stack.blocks:
                count = source_text(block.entry).lower().count(needle)
                if count:
                    self._counts.append((block.entry.id, count))
        self._view.refresh()

    def clear(self) -> None:
        """No search any more."""
        self.search("")

    def move(self, step: int) -> bool:
        """To the next (1) or previous (-1) line with a hit, around the ends; False: there is none."""
        if not self._counts:
            return False
        index, hit = self._at if self._at is not None else (0, -1) if step > 0 else (0, 0)
        hit += step
        lines = self._lines(index)
        for _ in range(len(self._counts)):
            if 0 <= hit < len(lines):
                break
            index = (index + step) % len(self._counts)
            lines = self._lines(index)
            hit = 0 if step > 0 else len(lines) - 1
        if not 0 <= hit < len(lines):
            return False
        self._at = index, hit
        entry_id = self._counts[index][0]
        self._view.marking.current = entry_id, lines[hit]
        self._view.scroll_to_entry(entry_id, lines[hit])
        self._view.refresh()
        return True

    def _lines(self, index: int) -> list[int]:
        """The drawn lines of an entry that hold a hit; it is unfolded for that."""
        entry_id = self._counts[index][0]
        view, needle = self._view, self._view.marking.needle
        lines = view.lines_with(entry_id, needle)
        entry = view.entry(entry_id)
        if not lines and entry is not None and view.stack.is_folded(entry):
            view.toggle_fold(entry_id)
            lines = view.lines_with(entry_id, needle)
        return lines


def source_text(entry: Entry) -> str:
    """What is said in an entry, without its looks."""
    return "\n".join(_texts(entry))


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case Message():
            yield entry.text
        case ToolCall():
            yield from (entry.title, *(place.path for place in entry.locations))
            for part in entry.content:
                match part:
                    case Content():
                        yield part.text
                    case Diff():
                        yield from (part.path, part.old or "", part.new or "", part.patch or "")
        case Plan():
            yield from (item.content for item in entry.items)
            yield entry.markdown or ""
        case Notice():
            yield from (entry.text, entry.detail or "")
        case Permission():
            yield entry.why or ""
        case TurnEnd() if entry.error is not None:
            yield from (entry.error.message, entry.error.detail or "")
        case Compaction():
            yield str(entry.summary)
        case Unrecognised():
            yield from (entry.what, visible_json(entry.raw))
