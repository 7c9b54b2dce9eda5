"""The entries below each other: which have a body, how high each is, and what is at a given height.

Only what comes onto the screen gets a body. All else has an estimated height, corrected when it comes
near. The methods that settle a screen say where it begins afterwards, so that nothing on it moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.registry import kind_of, kinds
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.entries.renderers import make_body
from acp_tui.ui.transcript.anchor import Anchor
from acp_tui.ui.transcript.entry_block import EntryBlock, gap_between

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.theme.palette import Palette

MAX_SETTLE_PASSES = 8
"""Correcting an estimate can bring others onto the screen; so often at most."""


class EntryLayout:
    """All entries of one transcript."""

    def __init__(self, session: Session, palette: Palette, cwd: str) -> None:
        self.session = session
        self.palette = palette
        self.cwd = cwd
        self.keymap: Mapping[str, str] = {}
        self.body_replaced: Callable[[int], object] | None = None
        """Told the id of an entry that could not be drawn."""
        self.clock: Callable[[], float] | None = None
        """The time in the session: for how long something has been going on."""
        self.width = 0
        self.blocks: list[EntryBlock] = []
        self.heights = Heights()
        self._places: dict[int, int] = {}  # of entries' ids among the blocks
        self._kinds_folded: dict[type[Entry], bool] = {}

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def total(self) -> int:
        """The height of all."""
        return self.heights.total

    def place_of(self, entry_id: int | None) -> int | None:
        """Where the entry is among the blocks."""
        return None if entry_id is None else self._places.get(entry_id)

    def place_of_host(self, entry: Entry) -> int | None:
        """Return the place of the entry that shows this one as a part, if there is one."""
        host = kind_of(entry).shown_in(entry, self.session)
        return self.place_of(host.id) if host is not None else None

    # ------------------------------------------------------------------------- what happens

    def append(self, entry: Entry) -> None:
        """One more at the end."""
        before = self.blocks[-1].entry if self.blocks else None
        block = EntryBlock(entry, gap=gap_between(before, entry))
        self._places[entry.id] = len(self.blocks)
        self.blocks.append(block)
        self.heights.append(self._guess(block))

    def refresh(self, place: int) -> None:
        """An entry has changed: its body takes it in, if it has one."""
        self._set_apart(place)
        block = self.blocks[place]
        if block.entry.withdrawn:
            block.drawn.clear()  # the same lines, dimmed
        if block.body is None:
            self.heights[place] = self._guess(block)
            return
        if block.body.update():
            self._measure(place)
        else:
            block.body = None
            self.settle(place)

    def _set_apart(self, place: int) -> None:
        """Blank lines come where an entry shows more than its title now; none goes again."""
        for number in range(max(1, place), min(place + 2, len(self.blocks))):
            block = self.blocks[number]
            missing = gap_between(self.blocks[number - 1].entry, block.entry) - block.gap
            if missing > 0:
                block.gap += missing
                self.heights[number] += missing if self.heights[number] else 0

    def rebuild(self) -> None:
        """Begin anew with the entries of the session."""
        self.blocks.clear()
        self._places.clear()
        self.heights.reset([])
        for entry in self.session.entries:
            self.append(entry)

    def resize(self, width: int, anchor: Anchor | None = None) -> Anchor | None:
        """Lines break elsewhere now: all heights are estimates again. Gives what the anchor has become."""
        before, self.width = self.width or width, width
        if anchor is not None:
            part = anchor.line / max(1, self.heights[anchor.place])
            anchor = replace(anchor, body=None, part=part, from_end=None)
        self.heights.reset(
            [height if height < 3 else max(1, height * before // width) for height in self.heights]
        )
        self.forget()
        return anchor

    def forget(self) -> None:
        """Everything is drawn anew when it is looked at; heights stay."""
        for block in self.blocks:
            block.forget()

    # ------------------------------------------------------------------------- folding

    def is_folded(self, entry: Entry) -> bool:
        """Is only its short form shown?"""
        place = self._places.get(entry.id)
        wish = self.blocks[place].folded if place is not None else None
        if wish is None:
            wish = self._kinds_folded.get(type(entry))
        return kind_of(entry).starts_folded(entry) if wish is None else wish

    def toggle_fold(self, place: int) -> None:
        """Fold or unfold one entry."""
        block = self.blocks[place]
        block.folded = not self.is_folded(block.entry)
        block.forget()
        self.settle(place)

    def toggle_kind(self, kind: type[Entry]) -> None:
        """Fold all entries of a kind, or unfold them when the newest is folded."""
        self._fold({kind})

    def toggle_all(self) -> None:
        """Fold everything that folds, or unfold it when the newest is folded."""
        self._fold({entry_type for entry_type, kind in kinds().items() if kind.foldable})

    def _fold(self, kinds: Collection[type[Entry]]) -> None:
        newest = next((block.entry for block in reversed(self.blocks) if type(block.entry) in kinds), None)
        folded = newest is not None and not self.is_folded(newest)
        self._kinds_folded.update(dict.fromkeys(kinds, folded))
        for block in self.blocks:
            if type(block.entry) in kinds:
                block.folded = None
                block.forget()

    # ------------------------------------------------------------------------- settling

    def settle(self, place: int) -> Body:
        """Make sure that this entry has a body, and is as high as it says."""
        block = self.blocks[place]
        if block.body is None:
            block.body = make_body(block.entry, self._context_of(block.entry), self.body_replaced)
            block.drawn.clear()
            self._measure(place)
        return block.body

    def settle_lines(self, place: int, first: int, last: int) -> None:
        """Long bodies make their lines when asked; only then their height is exact there."""
        body, gap = self.settle(place), self.blocks[place].gap
        settle = getattr(body, "settle", None)
        if settle is not None:
            settle(max(0, first - gap), max(0, last - gap))
            self._measure(place)

    def settle_end(self, page: int) -> int:
        """Settle the last screenful; where it begins."""
        room, place = page, len(self.blocks) - 1
        while place >= 0 and room > 0:
            before = -1
            while before != (height := self.heights[place]):
                before = height
                self.settle(place)
                self.settle_lines(place, self.heights[place] - room, self.heights[place])
            room -= self.heights[place]
            place -= 1
        return max(0, self.total - page)

    def settle_screen(self, anchor: Anchor, page: int) -> int:
        """Settle a screenful with a line at its top (or as near as the ends allow); where it begins."""
        place, gap = anchor.place, self.blocks[anchor.place].gap
        y = 0
        for _ in range(MAX_SETTLE_PASSES):
            line = anchor.line_in(self.settle(place), gap)
            self.settle_lines(place, line, line + page)
            y = self.heights.top(place) + anchor.line_in(self.settle(place), gap)
            y = max(0, min(y, self.total - page))
            total = self.total
            self._settle_from(y, page)
            if self.total == total:
                break
        return y

    def anchor_at(self, y: int) -> Anchor | None:
        """Hold on to the line at this height."""
        if not self.blocks:
            return None
        place, line = self.heights.at(y)
        block = self.blocks[place]
        if block.body is None:
            return Anchor(place, line, gap=block.gap, from_end=self.heights[place] - line)
        name = getattr(block.body, "place_of", None)
        inside = name(line - block.gap) if name is not None and line >= block.gap else None
        return Anchor(place, line, gap=block.gap, inside=inside, body=block.body)

    def _settle_from(self, y: int, page: int) -> None:
        bottom = y + max(1, page)
        place, _ = self.heights.at(y)
        while place < len(self.blocks) and (top := self.heights.top(place)) < bottom:
            self.settle(place)
            self.settle_lines(place, y - top, bottom - top)
            place += 1

    def settle_above(self, y: int, lines: int) -> int:
        """Settle so many lines above this height, which were guesses; where it is now."""
        anchor = self.anchor_at(y)
        if anchor is None:
            return y
        place, gap = anchor.place, self.blocks[anchor.place].gap
        missing = lines - anchor.line_in(self.settle(place), gap)
        while place > 0 and missing > 0:
            place -= 1
            self.settle(place)
            self.settle_lines(place, self.heights[place] - missing, self.heights[place])
            missing -= self.heights[place]
        return self.heights.top(anchor.place) + anchor.line_in(self.settle(anchor.place), gap)

    def running(self, y: int, page: int) -> list[int]:
        """The rows on the screen that begins at `y` whose text changes with the clock."""
        rows: list[int] = []
        place, line = self.heights.at(y)
        row = y - line
        while place < len(self.blocks) and row < y + page:
            headline = row + self.blocks[place].gap
            entry = self.blocks[place].entry
            if self.heights[place] and headline >= y and kind_of(entry).is_running(entry):
                rows.append(headline)
            row += self.heights[place]
            place += 1
        return rows

    def remeasure(self, entry_id: int) -> None:
        """The body of this entry has another height now."""
        place = self.place_of(entry_id)
        if place is not None:
            self.blocks[place].drawn.clear()
            self._measure(place)

    def _guess(self, block: EntryBlock) -> int:
        height = kind_of(block.entry).estimated_height(block.entry, self.width or 80)
        return block.gap + height if height else 0

    def _measure(self, place: int) -> None:
        block = self.blocks[place]
        height = block.body.height if block.body is not None else 0
        self.heights[place] = block.gap + height if height else 0

    def _context_of(self, entry: Entry) -> DrawContext:
        return DrawContext(
            width=self.width,
            palette=self.palette,
            session=self.session,
            folded=self.is_folded(entry),
            cwd=self.cwd,
            keymap=self.keymap,
            now=self.clock,
        )
