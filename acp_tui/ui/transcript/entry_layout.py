"""The vertical layout of a transcript: the entries' bodies and heights, and what is at a given row.

An entry gets a body when it comes near the viewport, or when a caller needs the body. Until then, the entry's
height is an estimate. To *settle* lines is to measure their exact heights. Settling can move lines, so
methods that settle a screen return the row at which the screen begins afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from acp_tui.entry_kinds.kind_table import KINDS, kind_of
from acp_tui.ui.drawing.body import Body, DrawContext, Heights
from acp_tui.ui.entries.renderers import GuardedBody

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Entry, Session


@dataclass(frozen=True, slots=True)
class Anchor:
    """One line of one entry. If set, `from_end`, `inside` or `part` takes precedence over `line`."""

    index: int  # the entry's index in the layout
    line: int  # the line in the entry, counting the blank lines above it
    gap: int = 0  # the number of blank lines above the entry
    from_end: int | None = None  # lines to the end, for an entry whose height is an estimate
    inside: Any = None  # the position in a long body
    body: Body | None = None  # the body that `inside` belongs to; None: any body of the entry
    part: float | None = None  # after a resize: how far down in the entry, from 0 to 1

    def line_in(self, body: Body, gap: int) -> int:
        """Return the number of the anchored line in the entry, given the entry's current `body` and `gap`."""
        height = gap + body.height
        line = self.line + (gap - self.gap if self.line >= self.gap else 0)
        line_at = getattr(body, "line_at", None)
        if self.from_end is not None:
            line = height - self.from_end
        elif self.inside is not None and line_at is not None and self.body in (None, body):
            line = gap + line_at(self.inside)
        elif self.part is not None:
            line = round(self.part * height)
        return max(0, min(line, height - 1))


@dataclass(slots=True)
class EntryBlock:
    """One entry. It has a body (its drawn content) only if it has been near the viewport."""

    entry: Entry
    folded: bool | None = None  # as the user chose; None: as usual for its kind
    body: Body | None = None  # None: never drawn or outdated, so the height is an estimate
    gap: int = 0  # blank lines above it
    painted: dict[int, tuple[Strip, Strip]] = field(default_factory=dict)
    """Cached lines, by number: the strip from the body, and the same strip with margin and colour filters."""

    def forget(self) -> None:
        """Drop the body. Needed after a change of the width, the theme or the folding."""
        self.body = None
        self.painted.clear()


def gap_between(before: Entry | None, entry: Entry) -> int:
    """Return the number of blank lines between two entries. Folding does not change this number."""
    if before is None:
        return 1
    above, below = kind_of(before).spacing, kind_of(entry).spacing
    if "paragraph" in (above, below):
        return 1
    return 0 if below == "remark" or (_is_short(before) and _is_short(entry)) else 1


def _is_short(entry: Entry) -> bool:
    """Return True if the entry starts folded, or if the spacing of its kind is not `compact`."""
    kind = kind_of(entry)
    return kind.spacing != "compact" or kind.starts_folded(entry)


MAX_SETTLE_PASSES = 8
"""The maximum number of passes to measure a screen: each pass can bring other entries onto the screen."""
DEFAULT_WIDTH = 80
"""The width, in cells, for estimates before the real one is known."""


class EntryLayout:
    """The entries of one transcript, with their bodies and heights."""

    def __init__(self, session: Session, cwd: str) -> None:
        self.session = session
        self.cwd = cwd
        self.keymap: Mapping[str, str] = {}
        self.body_replaced: Callable[[int], object] | None = None
        """Called with the id of an entry whose body was replaced because drawing failed."""
        self.clock: Callable[[], float] | None = None
        """Returns the time, for the durations of running entries."""
        self.width = 0
        self.blocks: list[EntryBlock] = []
        self.heights = Heights()
        self._indexes: dict[int, int] = {}  # by entry id
        self._folded_kinds: dict[type[Entry], bool] = {}  # as the user chose

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def total(self) -> int:
        """The height of all entries."""
        return self.heights.total

    def index_of(self, entry_id: int | None) -> int | None:
        """Return the index in `blocks` of the entry with this id; None if there is no such entry."""
        return None if entry_id is None else self._indexes.get(entry_id)

    def index_of_host(self, entry: Entry) -> int | None:
        """Return the index of the entry in which `entry` is shown; None if `entry` is shown on its own."""
        host = kind_of(entry).shown_in(entry, self.session)
        return self.index_of(host.id) if host is not None else None

    # ------------------------------------------------------------------------- changes

    def append(self, entry: Entry) -> None:
        before = self.blocks[-1].entry if self.blocks else None
        block = EntryBlock(entry, gap=gap_between(before, entry))
        self._indexes[entry.id] = len(self.blocks)
        self.blocks.append(block)
        self.heights.append(self._estimate(block))

    def refresh(self, index: int) -> None:
        """Update the body of an entry that has changed."""
        self._widen_gaps(index)
        block = self.blocks[index]
        if block.entry.withdrawn:
            block.painted.clear()  # the lines are the same, but must be painted again, dimmed
        if block.body is None:
            self.heights[index] = self._estimate(block)
            return
        if block.body.update():
            self._measure(index)
        else:
            block.body = None
            self.settle(index)

    def _widen_gaps(self, index: int) -> None:
        """Add blank lines around an entry that now shows more than its title. Never remove blank lines."""
        for number in range(max(1, index), min(index + 2, len(self.blocks))):
            block = self.blocks[number]
            missing = gap_between(self.blocks[number - 1].entry, block.entry) - block.gap
            if missing > 0:
                block.gap += missing
                self.heights[number] += missing if self.heights[number] else 0

    def rebuild(self) -> None:
        """Discard all blocks, and add the entries of the session again."""
        self.blocks.clear()
        self._indexes.clear()
        self.heights.reset([])
        for entry in self.session.entries:
            self.append(entry)

    def resize(self, width: int, anchor: Anchor | None = None) -> Anchor | None:
        """Set the width. All heights become estimates again. Return `anchor`, adapted to the new layout."""
        before, self.width = self.width or width, width
        if anchor is not None:
            part = anchor.line / max(1, self.heights[anchor.index])
            anchor = replace(anchor, body=None, part=part, from_end=None)
        self.heights.reset(
            [height if height < 3 else max(1, height * before // width) for height in self.heights]
        )
        self.forget()
        return anchor

    def forget(self) -> None:
        """Drop all bodies and keep their heights."""
        for block in self.blocks:
            block.forget()

    def remeasure(self, entry_id: int) -> None:
        """Measure an entry whose body could not be drawn and was replaced by the raw content."""
        index = self.index_of(entry_id)
        if index is not None:
            self.blocks[index].painted.clear()
            self._measure(index)

    # ------------------------------------------------------------------------- folding

    def is_folded(self, entry: Entry) -> bool:
        """Return True if an entry is folded: only its short form is shown."""
        index = self._indexes.get(entry.id)
        wish = self.blocks[index].folded if index is not None else None
        if wish is None:
            wish = self._folded_kinds.get(type(entry))
        return kind_of(entry).starts_folded(entry) if wish is None else wish

    def can_fold(self, index: int) -> bool:
        """Return True if the fold key does something: the entry has another form, or a transcript to open."""
        entry, kind = self.blocks[index].entry, kind_of(self.blocks[index].entry)
        if kind.opens_transcript or not kind.can_fold:
            return kind.opens_transcript
        body = self.settle(index)
        known: bool | None = getattr(body, "can_fold", lambda: None)()
        if known is not None:
            return known
        context = self._context_of(entry)
        return GuardedBody(entry, replace(context, folded=not context.folded)).height != body.height

    def toggle_fold(self, index: int) -> None:
        """Fold or unfold one entry."""
        block = self.blocks[index]
        block.folded = not self.is_folded(block.entry)
        block.forget()
        self.settle(index)

    def toggle_kind(self, kind: type[Entry]) -> None:
        """Fold all entries of a kind, or unfold them if the newest is folded."""
        self._toggle({kind})

    def toggle_all(self) -> None:
        """Fold all foldable entries, or unfold them if the newest is folded."""
        self._toggle({entry_type for entry_type, kind in KINDS.items() if kind.foldable})

    def _toggle(self, entry_types: Collection[type[Entry]]) -> None:
        blocks = [block for block in self.blocks if type(block.entry) in entry_types]
        folded = bool(blocks) and not self.is_folded(blocks[-1].entry)
        self._folded_kinds.update(dict.fromkeys(entry_types, folded))
        for block in blocks:
            block.folded = None
            block.forget()

    # ------------------------------------------------------------------------- settling

    def settle(self, index: int) -> Body:
        """Return the body of an entry, made and measured if necessary."""
        block = self.blocks[index]
        if block.body is None:
            block.body = GuardedBody(block.entry, self._context_of(block.entry), self.body_replaced)
            block.painted.clear()
            self._measure(index)
        return block.body

    def settle_lines(self, index: int, first: int, last: int) -> None:
        """Draw some lines of an entry, and measure the entry. Needed only if the body draws on demand."""
        body, gap = self.settle(index), self.blocks[index].gap
        settle = getattr(body, "settle", None)
        if settle is not None:
            settle(max(0, first - gap), max(0, last - gap))
            self._measure(index)

    def settle_end(self, page: int) -> int:
        """Draw and measure the last `page` rows. Return the number of the first of these rows."""
        room, index = page, len(self.blocks) - 1
        while index >= 0 and room > 0:
            before = -1
            while before != (height := self.heights[index]):
                before = height
                self.settle(index)
                self.settle_lines(index, self.heights[index] - room, self.heights[index])
            room -= self.heights[index]
            index -= 1
        return max(0, self.total - page)

    def settle_screen(self, anchor: Anchor, page: int) -> int:
        """Draw and measure `page` rows, with the anchor at the top or as near to the top as possible.

        Return the number of the first of these rows.
        """
        index, gap = anchor.index, self.blocks[anchor.index].gap
        y = 0
        for _ in range(MAX_SETTLE_PASSES):
            line = anchor.line_in(self.settle(index), gap)
            self.settle_lines(index, line, line + page)
            y = self.heights.top(index) + anchor.line_in(self.settle(index), gap)
            y = max(0, min(y, self.total - page))
            total = self.total
            self._settle_from(y, page)
            if self.total == total:
                break
        return y

    def settle_above(self, y: int, lines: int) -> int:
        """Draw and measure the `lines` lines above row `y`. Return the new number of that row."""
        anchor = self.anchor_at(y)
        if anchor is None:
            return y
        index, gap = anchor.index, self.blocks[anchor.index].gap
        missing = lines - anchor.line_in(self.settle(index), gap)
        while index > 0 and missing > 0:
            index -= 1
            self.settle(index)
            self.settle_lines(index, self.heights[index] - missing, self.heights[index])
            missing -= self.heights[index]
        return self.heights.top(anchor.index) + anchor.line_in(self.settle(anchor.index), gap)

    def _settle_from(self, y: int, page: int) -> None:
        bottom = y + max(1, page)
        index, _ = self.heights.at(y)
        while index < len(self.blocks) and (top := self.heights.top(index)) < bottom:
            self.settle(index)
            self.settle_lines(index, y - top, bottom - top)
            index += 1

    def anchor_at(self, y: int) -> Anchor | None:
        """Return an anchor for the line at a row; None if there are no entries."""
        if not self.blocks:
            return None
        index, line = self.heights.at(y)
        block = self.blocks[index]
        if block.body is None:
            return Anchor(index, line, gap=block.gap, from_end=self.heights[index] - line)
        position_at = getattr(block.body, "position_at", None)
        inside = position_at(line - block.gap) if position_at is not None and line >= block.gap else None
        return Anchor(index, line, gap=block.gap, inside=inside, body=block.body)

    def running(self, y: int, page: int) -> list[int]:
        """Among the `page` rows from row `y` on, return those that show the duration of a running entry."""
        rows: list[int] = []
        index, line = self.heights.at(y)
        row = y - line
        while index < len(self.blocks) and row < y + page:
            block = self.blocks[index]
            headline = row + block.gap
            if self.heights[index] and headline >= y and kind_of(block.entry).is_running(block.entry):
                rows.append(headline)
            row += self.heights[index]
            index += 1
        return rows

    # ------------------------------------------------------------------------- heights

    def _estimate(self, block: EntryBlock) -> int:
        height = kind_of(block.entry).estimated_height(block.entry, self.width or DEFAULT_WIDTH)
        return block.gap + height if height else 0

    def _measure(self, index: int) -> None:
        block = self.blocks[index]
        height = block.body.height if block.body is not None else 0
        self.heights[index] = block.gap + height if height else 0

    def _context_of(self, entry: Entry) -> DrawContext:
        return DrawContext(
            width=self.width,
            session=self.session,
            folded=self.is_folded(entry),
            cwd=self.cwd,
            keymap=self.keymap,
            clock=self.clock,
        )
