"""Cuts Markdown into sections while it grows.

A section is a piece that can be drawn for itself: a paragraph, a heading, one item of a list, a quote, some
rows of a table, some lines of code. Each line is looked at once, when it is complete. All sections but the
last are final, so what a chunk costs does not depend on what came before.

Containers that may grow without end, which are lists, are kept track of here: their items and what is in them
are sections of their own, with an indent. What a section's text means is up to the Markdown parser, except
for code, of which every line is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from acp_tui.ui.markdown.lines import (
    FENCE,
    HEADING_UNDERLINE,
    LIST_ITEM,
    TABLE_DELIMITERS,
    block_start,
    closes_fence,
    count_columns,
    cut_position,
    expand_indent,
    interrupts,
)

MAX_LINE_LENGTH = 16_384
"""Characters of a line or a paragraph after which it is cut in two."""
CODE_LINES_PER_SECTION = 120
"""Lines of code in one section: they are coloured together."""
TABLE_ROWS_PER_SECTION = 40
"""Rows of a table in one section. The columns are fitted to the first of them, and stay."""

Kind = Literal["text", "rest", "code", "table", "plain"]


@dataclass(slots=True, eq=False)
class Fence:
    """A block of code. `marker` is empty for code that is only indented."""

    marker: str
    info: str
    column: int  # of the container's content
    indent: int  # of the fence itself within it
    closed: bool = False


@dataclass(slots=True, eq=False)
class Section:
    """One piece. The lines of code have their line ends, all others have not."""

    kind: Kind  # "rest": goes on in a paragraph that was cut
    lines: list[str]
    indent: int = 0  # cells, of the list items it is in
    column: int = 0  # characters to take from the beginning of its lines
    gap: bool = False  # a blank line above
    number: int | None = None  # of an ordered list's item
    fence: Fence | None = None
    head: list[str] = field(default_factory=list)  # of a table: its first two lines
    first: Section | None = None  # of the same code or table, when this is not it
    size: int = 0
    serial: int = 0  # the same for the section while it is open and when it is final

    @property
    def text(self) -> str:
        """What is to be parsed."""
        return "\n".join(self.head + self.lines)

    @property
    def block(self) -> int:
        """The same for all sections of one code or table."""
        return (self.first or self).serial

    def same(self, other: Section) -> bool:
        """Would it look the same?"""
        return (self.kind, self.head, self.lines) == (other.kind, other.head, other.lines)


@dataclass(slots=True, frozen=True)
class ListItem:
    """The item of a list that we are in."""

    content: int  # the column where its content begins
    indent: int  # … and the cells, as drawn
    sign: str  # the bullet, or what follows the number
    number: int


class MarkdownScanner:
    """Takes text in any pieces and gives sections."""

    def __init__(self) -> None:
        self.done: list[Section] = []
        """Sections that are final; whoever takes them clears the list."""
        self._open: Section | None = None
        self._items: list[ListItem] = []
        self._fence: Fence | None = None
        self._blank = False  # the last line was blank
        self._paragraph = False  # the last line was one of a paragraph, which the next may continue
        self._blank_code = 0  # blank lines that belong to indented code if more of it comes
        self._partial: list[str] = []  # of the last line
        self._partial_size = 0
        self._in_line = False  # the last line was begun, and cut because it is long
        self._serial = 0

    # ------------------------------------------------------------------------- lines

    def feed(self, text: str) -> None:
        """Take in more text."""
        first, *others = text.split("\n")
        self._add(first)
        for other in others:
            self._end_line()
            self._add(other)

    def tail(self, pending: str = "") -> list[Section]:
        """The sections that are not final yet, as if the text ended here."""
        ahead = object.__new__(MarkdownScanner)
        ahead.__dict__.update(self.__dict__, done=[])
        ahead._items = list(self._items)
        ahead._partial = list(self._partial)
        if self._open is not None:
            ahead._open = replace(self._open, lines=list(self._open.lines))
            if self._fence is not None:
                ahead._open.fence = ahead._fence = replace(self._fence)
        ahead._add(pending)
        if ahead._partial:
            ahead._end_line()
        ahead._close()
        return ahead.done

    def _add(self, text: str) -> None:
        """More of the last line; it is cut where it gets long, wherever the chunks end."""
        if not text:
            return
        self._partial.append(text)
        self._partial_size += len(text)
        if self._partial_size < MAX_LINE_LENGTH:
            return
        line = "".join(self._partial)
        start = 0
        while len(line) - start >= MAX_LINE_LENGTH:
            end = start + (
                MAX_LINE_LENGTH if self._fence else cut_position(line[start : start + MAX_LINE_LENGTH])
            )
            self._line(line[start:end], ended=False)
            start = end
        self._partial = [line[start:]] if start < len(line) else []
        self._partial_size = len(line) - start

    def _end_line(self) -> None:
        line = "".join(self._partial)
        self._partial, self._partial_size = [], 0
        self._line(line, ended=True)

    def _line(self, line: str, *, ended: bool) -> None:
        if self._in_line:
            self._rest(line, ended=ended)
        else:
            self._whole(line, ended=ended)
        self._in_line = not ended

    def _rest(self, line: str, *, ended: bool) -> None:
        """What follows in a long line that was cut."""
        if self._fence is not None:
            self._code(line, ended=ended)
        elif line:
            quoted = _is_quote(self._open)
            self._begin("text" if quoted else "rest", gap=False)
            self._append(f"> {line}" if quoted else line)
            self._paragraph = True

    # ------------------------------------------------------------------------- blocks

    def _whole(self, written: str, *, ended: bool) -> None:
        """Any other line, or the beginning of a long one."""
        line = expand_indent(written)
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        if self._fence is not None and self._in_fence(written, content, indent, ended=ended):
            return
        if not content.strip():
            self._blank, self._paragraph = True, False
            return
        depth = sum(indent >= item.content for item in self._items)
        column = self._items[depth - 1].content if depth else 0
        if self._continues(content, indent - column, depth):
            self._append(line)
        else:
            left = self._items[depth] if depth < len(self._items) else None
            del self._items[depth:]
            self._block(line, content, indent - column, left)
        self._blank = False

    def _continues(self, content: str, indent: int, depth: int) -> bool:
        """Does this line go on in the section that is open, in the middle of a paragraph or a table?"""
        section = self._open
        if section is None or self._blank:
            return False
        here = depth == len(self._items)
        start = block_start(content) if indent < 4 else ""
        if section.kind == "table":
            if start or indent >= 4 or not here:
                return False
            if len(section.lines) >= TABLE_ROWS_PER_SECTION:
                self._split()
            return True
        if not self._paragraph:
            return False
        if here and self._makes_table(content):
            self._paragraph = False
            return True
        quoted = _is_quote(section)
        if start == "quote":
            start = "" if quoted else start
        elif start == "item":
            start = start if not here or interrupts(content) else ""
        elif start == "rule" and here and not quoted and HEADING_UNDERLINE.match(content):
            self._paragraph = False
            return True
        if not start and section.size > MAX_LINE_LENGTH:
            self._begin("text" if content.startswith((">", "[")) else "rest", gap=False)
        return not start

    def _block(self, line: str, content: str, indent: int, left: ListItem | None) -> None:
        """A line that begins something. `left`: the item at this depth that ends here, if any."""
        start = block_start(content) if indent < 4 else "code"
        if start == "fence" or start == "code":
            self._begin_code(content, indent, is_fence=start == "fence")
        elif start == "item":
            self._begin_item(line, content, indent, left)
        else:
            self._begin("text", gap=True)
            self._append(line)
            self._paragraph = start in ("", "quote")

    def _begin_item(self, line: str, content: str, indent: int, left: ListItem | None) -> None:
        match = LIST_ITEM.match(content)
        assert match is not None
        bullet, digits, delimiter, space, text = match.groups()
        outer = self._items[-1] if self._items else ListItem(0, 0, "", 0)
        sign = bullet or delimiter
        number = int(digits or 0)
        if left is not None and left.sign == sign:
            number = left.number + 1
        width = len(bullet or digits + delimiter) + 1
        if text and len(space) <= 4:  # more is indented code
            width = len(content[: match.start(5)].expandtabs(4))
        cells = 2 if bullet else len(f"{number}. ")
        before = self._open
        loose = self._blank or before is None or before.kind in ("code", "table") or not _is_plain(before)
        self._begin("text", gap=loose, number=None if bullet else number)
        self._items.append(ListItem(outer.content + indent + width, outer.indent + cells, sign, number))
        fence = FENCE.match(text or "")
        if fence is None:
            self._append(line)
            self._paragraph = bool(text and text.strip()) and block_start(text) not in ("heading", "rule")
        else:
            self._append(line[: len(line) - len(text)].rstrip(" "))
            self._begin_code(text, 0, is_fence=True)
            assert self._open is not None
            self._open.gap = False

    def _makes_table(self, content: str) -> bool:
        """Is this the line below the head of a table? Then the open section becomes one."""
        section = self._open
        assert section is not None
        if "|" not in content or not TABLE_DELIMITERS.match(content):
            return False
        head = section.lines[-1].strip(" ")
        if "|" not in head or block_start(head) or count_columns(head) != count_columns(content):
            return False
        if len(section.lines) > 1:
            section.lines.pop()
            self._begin("table", gap=True)
        else:
            section.kind = "table"
            section.lines.clear()
        assert self._open is not None
        self._open.head = [head]
        return True

    # ------------------------------------------------------------------------- code

    def _begin_code(self, content: str, indent: int, *, is_fence: bool) -> None:
        column = self._items[-1].content if self._items else 0
        self._begin("code", gap=True)
        self._paragraph = False
        self._blank_code = 0
        match = FENCE.match(content) if is_fence else None
        if match is not None:
            self._fence = Fence(match[1] or match[3], (match[2] or match[4] or "").strip(), column, indent)
        else:
            self._fence = Fence("", "", column, 4)
        assert self._open is not None
        self._open.fence = self._fence
        if not is_fence:
            self._code(" " * (indent - 4) + content, ended=True)

    def _in_fence(self, written: str, content: str, indent: int, *, ended: bool) -> bool:
        """A line while code is open. False: it does not belong to it, which has ended."""
        fence = self._fence
        assert fence is not None
        blank = not content.strip()
        if not fence.marker:
            if blank:
                self._blank_code += 1
                return True
            if indent < fence.column + 4:
                self._blank = self._blank_code > 0
                self._end_code()
                return False
            for _ in range(self._blank_code):
                self._code("", ended=True)
            self._blank_code = 0
        elif indent < fence.column and not blank:
            self._blank = False
            self._end_code()
            return False
        elif indent - fence.column < 4 and closes_fence(fence.marker, content):
            self._end_code()
            return True
        taken = fence.column + fence.indent
        self._code(expand_indent(written)[min(indent, taken) :] if taken else written, ended=ended)
        return True

    def _code(self, line: str, *, ended: bool) -> None:
        assert self._open is not None
        if len(self._open.lines) >= CODE_LINES_PER_SECTION:
            self._split()
        self._open.lines.append(line + "\n" if ended else line)
        self._open.size += len(line)

    def _end_code(self) -> None:
        if self._fence is not None:
            self._fence.closed = True
        self._fence = None
        self._blank_code = 0

    # ------------------------------------------------------------------------- sections

    def _begin(self, kind: Kind, *, gap: bool, number: int | None = None) -> None:
        """Close what is open, and open a section in the item that we are in."""
        first = self._open is None
        self._close()
        self._serial += 1
        item = self._items[-1] if self._items else None
        self._open = Section(
            kind,
            [],
            indent=item.indent if item else 0,
            column=item.content if item else 0,
            gap=gap and not first,
            number=number,
            serial=self._serial,
        )

    def _split(self) -> None:
        """Go on with the same in another section."""
        before = self._open
        assert before is not None
        self._close()
        self._serial += 1
        self._open = replace(
            before, lines=[], size=0, gap=False, first=before.first or before, serial=self._serial
        )

    def _append(self, line: str) -> None:
        section = self._open
        assert section is not None
        indent = len(line) - len(line.lstrip(" "))
        line = line[min(indent, section.column) :]
        if section.kind == "table" and len(section.head) == 1:
            section.head.append(line)
        else:
            section.lines.append(line)
        section.size += len(line) + 1

    def _close(self) -> None:
        if self._open is not None:
            self.done.append(self._open)
        self._open = None


def code_blocks(text: str) -> list[str]:
    """The code in a text, block by block, as it was written."""
    scanner = MarkdownScanner()
    scanner.feed(text)
    blocks: dict[int, list[str]] = {}
    for section in scanner.done + scanner.tail():
        if section.kind == "code":
            blocks.setdefault(section.block, []).extend(section.lines)
    return ["".join(lines) for lines in blocks.values()]


def _is_quote(section: Section | None) -> bool:
    return section is not None and section.lines[:1] != [] and section.lines[0].startswith(">")


def _is_plain(section: Section) -> bool:
    """Is it a paragraph or an item, that a list may follow closely?"""
    return block_start(section.lines[0].lstrip(" ") or " ") in ("", "item")
