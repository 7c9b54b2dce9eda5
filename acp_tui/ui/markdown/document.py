"""A Markdown text at one width, drawn where it is looked at, while it grows.

Sections that were not looked at have estimated heights, so the number of a line may change when something
above it is settled: `place_of` and `line_of` keep hold of a line all the same.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING

from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.markdown.pieces import CodePiece, Frame, Piece, TextPiece, parse_table
from acp_tui.ui.markdown.plain_text import PlainScanner
from acp_tui.ui.markdown.sections import MarkdownScanner, Section

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.text import GrowingText
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.markdown.parser import References
    from acp_tui.ui.markdown.table import Table
    from acp_tui.ui.theme.palette import Palette

_DEFINITION = re.compile(r" {0,3}\[(?:[^]\\]|\\.)+\]:")
MAX_CACHED_SECTIONS = 400
"""Sections whose lines stay in memory; others are made again when they are looked at."""


class Document:
    """Draws a growing text; `plain`: one that is not Markdown. `before` stands before each line."""

    def __init__(
        self,
        source: GrowingText,
        palette: Palette,
        width: int,
        before: Spans | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self._source = source
        self._frame = Frame(palette, width, before or [])
        self._blank = self._frame.strip([])
        self._scanner = PlainScanner() if plain else MarkdownScanner()
        self._read = 0
        self._pending = ""
        self._pieces: list[Piece] = []
        self._heights = Heights()  # of the pieces, with the blank line above
        self._growing: int | None = None  # the block of code that the text ends in
        self._final = 0  # so many pieces do not change any more
        self._references: References = {}
        self._all_references: References = {}  # … and those of sections that may change yet
        self._tables: dict[int, Table | None] = {}  # beginnings of long ones, by section
        self._made: OrderedDict[int, Piece] = OrderedDict()
        self.update()

    @property
    def height(self) -> int:
        """Exact where it was settled, else estimated."""
        return self._heights.total

    def update(self) -> bool:
        """Take in what is new."""
        pending = self._source.pending
        if self._read == self._source.length and self._pending == pending:
            return True
        self._scanner.feed(self._source.since(self._read))
        self._read, self._pending = self._source.length, pending
        final, tail = self._scanner.done, self._scanner.tail(pending)
        self._scanner.done = []
        before = self._take_back()
        growing = _growing(tail)
        if self._growing not in (None, growing):
            self._finish_code()
        self._growing = growing
        for section in final:
            self._append(section, before.get(section.serial))
        self._final = len(self._pieces)
        for section in tail:
            self._append(section, before.get(section.serial))
        self._learn_links(final, tail)
        return True

    def settle(self, first: int, last: int) -> None:
        """Make the heights of these lines, and so their numbers, exact."""
        index, _ = self._heights.at(first)
        while index < len(self._pieces) and self._heights.top(index) <= last:
            self._settle(index)
            index += 1

    def line(self, number: int) -> Strip:
        """One line; the same object as long as it is the same line."""
        index, row = self._heights.at(number)
        piece = self._pieces[index] if index < len(self._pieces) else None
        if piece is None or row < piece.section.gap:
            return self._blank
        if index not in self._made or not piece.made:
            self._make(index, piece)
        return piece.strip(row - piece.section.gap)

    def place_of(self, line: int) -> tuple[int, int]:
        """Where a line is, whatever the heights above it become."""
        return self._heights.at(line)

    def line_of(self, place: tuple[int, int]) -> int:
        """The number of the line at such a place now."""
        index, row = place
        return self._heights.top(index) + min(row, max(0, self._heights[index] - 1))

    @property
    def in_memory(self) -> int:
        """Of how many sections the lines are in memory."""
        return len(self._made)

    def _take_back(self) -> dict[int, Piece]:
        """The pieces that were not final, by section: they are made anew, from what is known."""
        for index in range(self._final, len(self._pieces)):
            self._made.pop(index, None)
        taken = {piece.section.serial: piece for piece in self._pieces[self._final :]}
        del self._pieces[self._final :]
        self._heights.truncate(self._final)
        return taken

    def _append(self, section: Section, before: Piece | None) -> None:
        piece: Piece
        if section.kind == "code":
            known = before if isinstance(before, CodePiece) else None
            piece = CodePiece(section, self._frame, growing=section.block == self._growing, before=known)
        elif isinstance(before, TextPiece) and before.section.same(section):
            piece = before
            if before.made:
                self._made[len(self._pieces)] = before
        else:
            piece = TextPiece(section, self._frame)
        self._pieces.append(piece)
        self._heights.append(_height(piece))

    def _finish_code(self) -> None:
        """The block of code that grew is complete."""
        for piece in reversed(self._pieces):
            if not isinstance(piece, CodePiece) or piece.section.block != self._growing:
                break
            piece.finish()

    def _settle(self, index: int) -> None:
        piece = self._pieces[index]
        if not piece.settled:
            self._make(index, piece)

    def _make(self, index: int, piece: Piece) -> None:
        """Make its lines, and drop others so that not too many are in memory."""
        piece.make(self._all_references, self._beginning(piece.section))
        self._heights[index] = _height(piece)
        self._made[index] = piece
        if len(self._made) > MAX_CACHED_SECTIONS:
            self._made.popitem(last=False)[1].drop()

    def _beginning(self, section: Section) -> Table | None:
        first = section.first
        if first is None or section.kind != "table":
            return None
        if first.serial not in self._tables:
            self._tables[first.serial] = parse_table(first, self._frame.palette)
        return self._tables[first.serial]

    def _learn_links(self, final: list[Section], tail: list[Section]) -> None:
        """Links may be known now that were not before; those that the tail defines may change yet."""
        for section in final:
            if defined := _defined(section):
                self._references = defined | self._references
        references = self._references
        for section in tail:
            if defined := _defined(section):
                references = defined | references
        if references == self._all_references:
            return
        self._all_references = references
        for index, piece in list(self._made.items()):
            if isinstance(piece, TextPiece) and "[" in piece.section.text:
                piece.drop()
                piece.settled = False
                del self._made[index]


def _growing(tail: list[Section]) -> int | None:
    """The block of code that is still open at the end."""
    section = tail[-1] if tail else None
    return section.block if section and section.fence and not section.fence.closed else None


def _height(piece: Piece) -> int:
    return piece.section.gap + piece.height if piece.height else 0


def _defined(section: Section) -> References:
    """The links that a section defines; nearly none does."""
    if section.kind != "text" or not any(_DEFINITION.match(line) for line in section.lines):
        return {}
    from acp_tui.ui.markdown.parser import link_definitions

    return link_definitions(section.text)
