"""Cuts growing Markdown into sections.

Each line is read once, when it is complete. A long line is read in parts. All sections but the last are
final, so the cost of a chunk does not depend on earlier text.

Lists and long paragraphs can grow without end. Each list item and each block in an item is a section of its
own, with an indent. A long paragraph is cut, and each section continues the one before. The Markdown parser
reads the text of a section later, except for code, whose lines are taken as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace

from acp_tui.ui.markdown.section import (
    FENCE,
    HEADING_UNDERLINE,
    LINK_DEFINITION,
    LIST_ITEM,
    MAX_SECTION_SIZE,
    SECTION_SIZE,
    TABLE_DELIMITERS,
    Fence,
    Kind,
    ListItem,
    MarkdownLineReader,
    Section,
    block_start,
    closes_fence,
    count_columns,
    expand_indent,
    interrupts,
    split_line_end,
    split_quote_marks,
    starts_block_in_quote,
)

_MARKUP = re.compile(
    r"\\."  # an escaped character
    r"|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"  # a code span
    r"|<[^<> ]+>"
    r"|(?P<opener>!?\[|`+)"
    r"|(?P<closer>\](?:\([^()]*\)|\[[^\[\]]*\])?)"
    r"|(?P<emphasis>\*+|_+|~~)",
    re.DOTALL,
)
_SPACE_BETWEEN_WORDS = re.compile(r"(?<=[^ \t>]) (?=[^ \t<])")  # not next to `<br>`
_LOOKBEHIND = 2000
"""The number of characters at the end of the text that `has_open_markup` examines."""
_MAX_NESTING = 50
"""A closing mark, such as `**`, is compared with this many opening marks at most, to keep the cost linear."""


def cut_position(text: str) -> int:
    """Return where to cut the text: a position in its second half, or its end."""
    half = len(text) // 2
    spans, openers = _find_markup(text)
    open_from = next((start for start in openers if start > half), len(text))
    spaces = [match.start() for match in _SPACE_BETWEEN_WORDS.finditer(text, half + 1)]
    outside = [space for space in spaces if not _is_inside(space, spans)]
    before_open = outside[: bisect_left(outside, open_from)]
    for candidates in (before_open, outside, spaces):
        if candidates:
            return candidates[-1]
    return max(text.rfind(" ", half + 1), text.rfind("\t", half + 1), 0) or open_from


def has_open_markup(text: str) -> bool:
    """Return True if inline markup seems to be open at the end of the text."""
    return bool(_find_markup(text[-_LOOKBEHIND:])[1])


def _find_markup(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the spans of inline markup in order, and the starts of markup that is not closed.

    The result is an estimate; only the parser knows for certain.
    """
    spans: list[tuple[int, int]] = []
    openers: list[tuple[str, int]] = []  # marks that are not closed yet, with their positions
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["opener"]:
            openers.append((match["opener"][-1], start))
        elif match["closer"]:
            _close("[", end, spans, openers)
        elif match["emphasis"]:
            before, mark, after = text[start - 1 : start] or " ", text[start], text[end : end + 1] or " "
            if mark == "_" and before.isalnum() and after.isalnum():
                continue
            if before.isspace() or not _close(mark, end, spans, openers):
                openers += [] if after.isspace() else [(mark, start)]
        else:
            spans.append((start, end))
    return spans, [start for _, start in openers]


def _close(mark: str, end: int, spans: list[tuple[int, int]], openers: list[tuple[str, int]]) -> bool:
    """Close the last opener of `mark` and add the span to `spans`. Return False if no opener is found."""
    for index in range(len(openers) - 1, max(-1, len(openers) - _MAX_NESTING - 1), -1):
        if openers[index][0] == mark:
            start = openers[index][1]
            del openers[index:]
            while spans and spans[-1][0] > start:  # nested markup
                spans.pop()
            spans.append((start, end))
            return True
    return False


def _is_inside(position: int, spans: list[tuple[int, int]]) -> bool:
    index = bisect_left(spans, (position,)) - 1
    return index >= 0 and position < spans[index][1]


CODE_LINES_PER_SECTION = 120
"""The maximum number of lines of code in one section. They are highlighted together."""
TABLE_ROWS_PER_SECTION = 40
"""The maximum number of table rows in one section. A table's first section determines the column widths."""


class MarkdownScanner:
    """Splits Markdown into sections. The text may arrive in chunks of any size."""

    def __init__(self) -> None:
        self.finished: list[Section] = []
        """Sections that are final. The caller takes them and clears the list."""
        self._reader = MarkdownLineReader()
        self._open: Section | None = None
        self._items: list[ListItem] = []
        self._fence: Fence | None = None
        self._quoted_fence = ""  # the `>` marks and the fence of the open code block in a quote
        self._after_blank = False
        self._in_paragraph = False  # the next line may continue a paragraph
        self._blank_code_lines = 0  # part of indented code if more code follows
        self._in_long_line = False  # the beginning of the incomplete line was already read
        self._serial = 0

    # ------------------------------------------------------------------------- lines

    def feed(self, text: str) -> None:
        for part, ended in self._reader.read(text, self._cut_position):
            self._read(part, ended=ended)

    def tail(self, pending: str = "") -> list[Section]:
        """Return the sections that are not final yet, as if the text ended after `pending`."""
        ahead = object.__new__(MarkdownScanner)
        ahead.__dict__.update(self.__dict__, finished=[])
        ahead._items = list(self._items)
        ahead._reader = self._reader.copy()
        if self._open is not None:
            ahead._open = replace(self._open, lines=list(self._open.lines))
            if self._fence is not None:
                ahead._open.fence = ahead._fence = replace(self._fence)
        ahead.feed(pending)
        if partial := ahead._reader.partial:
            ahead._read(partial, ended=True)
        ahead._close()
        return ahead.finished

    def _read(self, line: str, *, ended: bool) -> None:
        if self._in_long_line:
            self._continue_long_line(line, ended=ended)
        else:
            self._read_line(line, ended=ended)
        self._in_long_line = not ended

    def _cut_position(self, line: str) -> int:
        is_code = self._fence is not None or self._quoted_fence
        return len(line) if is_code else cut_position(line)

    # ------------------------------------------------------------------------- blocks

    def _read_line(self, written: str, *, ended: bool) -> None:
        """Read a line, or the beginning of a long one."""
        line = expand_indent(written)
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        if self._fence is not None and self._read_code(written, content, indent, ended=ended):
            return
        if not content.strip():
            self._after_blank, self._in_paragraph = True, False
            return
        depth = sum(indent >= item.content for item in self._items)
        column = self._items[depth - 1].content if depth else 0
        if self._continues(content, indent - column, depth):
            self._continue_block(line, content)
        else:
            left = self._items[depth] if depth < len(self._items) else None
            del self._items[depth:]
            self._begin_block(line, content, indent - column, left)
        self._after_blank = False

    def _continues(self, content: str, indent: int, depth: int) -> bool:
        """Return True if the line continues the paragraph, quote or table of the open section."""
        section = self._open
        if section is None or self._after_blank:
            return False
        here = depth == len(self._items)
        start = block_start(content) if indent < 4 else ""
        if section.kind == "table":
            return not start and indent < 4 and here
        if not self._in_paragraph:
            return False
        if here and self._begins_table(content):
            self._in_paragraph = False
            return True
        if start == "quote":
            start = "" if section.quote else start
        elif start == "item":
            start = start if not here or interrupts(content) else ""
        elif start == "rule" and here and not section.quote and HEADING_UNDERLINE.match(content):
            self._in_paragraph = False
            return True
        return not start

    def _continue_block(self, line: str, content: str) -> None:
        """Add a line to the open section, or start a new section if the open one is long enough."""
        section = self._open
        assert section is not None
        if section.kind == "table" and len(section.lines) >= TABLE_ROWS_PER_SECTION:
            self._split()
        elif section.quote:
            self._continue_quote(content)
            return
        elif self._in_paragraph and section.size > SECTION_SIZE:
            if LINK_DEFINITION.match(content) and LINK_DEFINITION.match(section.lines[-1]):
                self._begin("text", gap=False)
            elif self._is_good_cut(section, content):
                self._cut_paragraph()
                line = content
        self._append(line)

    def _begin_block(self, line: str, content: str, indent: int, left: ListItem | None) -> None:
        """Start a block. `left` is the list item at the block's depth that has just ended, if any."""
        start = block_start(content) if indent < 4 else "code"
        if start == "fence" or start == "code":
            self._begin_code(content, indent, is_fence=start == "fence")
        elif start == "item":
            self._begin_item(line, content, indent, left)
        else:
            section = self._begin("text", gap=True)
            section.quote = start == "quote"
            if section.quote:
                self._track_quoted_fence(content)
            self._append(line)
            self._in_paragraph = start in ("", "quote")

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
        loose = self._after_blank or self._open is None or not self._open.is_tight
        self._begin("text", gap=loose, number=None if bullet else number)
        self._items.append(ListItem(outer.content + indent + width, outer.indent + cells, sign, number))
        fence = FENCE.match(text or "")
        if fence is None:
            self._append(line)
            self._in_paragraph = bool(text and text.strip()) and block_start(text) not in ("heading", "rule")
        else:
            self._append(line[: len(line) - len(text)].rstrip(" "))
            self._begin_code(text, 0, is_fence=True).gap = False

    def _begins_table(self, content: str) -> bool:
        """Start a table if this line is the delimiter row below a table header; otherwise return False."""
        section = self._open
        assert section is not None
        if "|" not in content or not TABLE_DELIMITERS.match(content):
            return False
        head = section.lines[-1].strip(" ")
        if "|" not in head or block_start(head) or count_columns(head) != count_columns(content):
            return False
        if len(section.lines) > 1 or section.continues:
            section.lines.pop()
            section = self._begin("table", gap=True)
        else:
            section.kind = "table"
            section.lines.clear()
        section.head = [head]
        return True

    # ------------------------------------------------------------------------- long paragraphs

    def _continue_long_line(self, line: str, *, ended: bool) -> None:
        """Read a further part of a line that was cut because it is long."""
        section = self._open
        text = line.lstrip(" \t")
        if self._fence is not None:
            self._add_code(line, ended=ended)
        elif section is None or self._after_blank or section.kind not in ("text", "rest"):
            if text:
                self._begin("rest", gap=self._after_blank)
                self._append(text)
                self._after_blank, self._in_paragraph = False, True
        elif self._quoted_fence:
            self._append(split_quote_marks(self._quoted_fence)[0] + line)
        elif text:
            self._cut_paragraph(" " if text != line else "")
            self._append(text)
        elif line.endswith("  ") and not section.lines[-1].endswith("  "):
            section.lines[-1] += "  "  # a hard break

    def _is_good_cut(self, section: Section, content: str) -> bool:
        """Return True if the paragraph can be cut before this line."""
        if section.size + len(content) > MAX_SECTION_SIZE:
            return True
        return not has_open_markup("\n".join(section.lines[-40:]))

    def _cut_paragraph(self, separator: str | None = None) -> None:
        """Continue the open paragraph in a new section.

        `separator` is drawn between the two parts; None if the end of the last line determines the separator.
        """
        section = self._open
        assert section is not None
        if separator is None:
            section.lines[-1], separator = split_line_end(section.lines[-1])
        section.separator = separator
        rest = self._begin("rest", gap=False)
        rest.continues = "paragraph"
        rest.indent, rest.quote = section.indent, section.quote

    def _continue_quote(self, content: str) -> None:
        """Add a line to the open quote, or to a new section if the quote is long enough."""
        section = self._open
        assert section is not None
        before = section.lines[-1]
        _, text = split_quote_marks(content)
        fence = self._quoted_fence
        self._track_quoted_fence(content)
        gap = block_start(text) != "item" if text else True
        if fence:
            if section.size > MAX_SECTION_SIZE and self._quoted_fence:
                self._begin_in_quote(gap=False).head = [fence]
                self._quoted_fence = fence
        elif section.kind == "rest" and (not text or block_start(text)):
            self._begin_in_quote(gap=gap)
        elif section.size > SECTION_SIZE:
            if starts_block_in_quote(before, content):
                self._begin_in_quote(gap=gap or not split_quote_marks(before)[1])
            elif self._is_good_cut(section, text):
                self._cut_paragraph()
        assert self._open is not None
        self._append(text if self._open.kind == "rest" else content)

    def _begin_in_quote(self, *, gap: bool) -> Section:
        """Continue the open quote in a new section, which starts with a new block or within fenced code."""
        section = self._begin("text", gap=gap)
        section.quote = True
        section.continues = "quote"
        return section

    def _track_quoted_fence(self, content: str) -> None:
        """Record whether a fenced code block is open in the quote after this line."""
        marks, text = split_quote_marks(content)
        if not self._quoted_fence:
            match = FENCE.match(text)
            self._quoted_fence = marks + (match[1] or match[3]) if match else ""
        elif closes_fence(split_quote_marks(self._quoted_fence)[1], text):
            self._quoted_fence = ""

    # ------------------------------------------------------------------------- code

    def _begin_code(self, content: str, indent: int, *, is_fence: bool) -> Section:
        column = self._items[-1].content if self._items else 0
        section = self._begin("code", gap=True)
        self._in_paragraph = False
        self._blank_code_lines = 0
        match = FENCE.match(content) if is_fence else None
        if match is not None:
            self._fence = Fence(match[1] or match[3], (match[2] or match[4] or "").strip(), column, indent)
        else:
            self._fence = Fence("", "", column, 4)
        section.fence = self._fence
        if not is_fence:
            self._add_code(" " * (indent - 4) + content, ended=True)
        return section

    def _read_code(self, written: str, content: str, indent: int, *, ended: bool) -> bool:
        """Read a line while a code block is open. Return False if the block has ended before this line."""
        fence = self._fence
        assert fence is not None
        blank = not content.strip()
        if not fence.marker:
            if blank:
                self._blank_code_lines += 1
                return True
            if indent < fence.column + 4:
                self._after_blank = self._blank_code_lines > 0
                self._end_code()
                return False
            for _ in range(self._blank_code_lines):
                self._add_code("", ended=True)
            self._blank_code_lines = 0
        elif indent < fence.column and not blank:
            self._after_blank = False
            self._end_code()
            return False
        elif indent - fence.column < 4 and closes_fence(fence.marker, content):
            self._end_code()
            return True
        removed = fence.column + fence.indent
        line = expand_indent(written)[min(indent, removed) :] if removed else written
        self._add_code(line, ended=ended)
        return True

    def _add_code(self, line: str, *, ended: bool) -> None:
        assert self._open is not None
        if len(self._open.lines) >= CODE_LINES_PER_SECTION:
            self._split()
        self._open.lines.append(line + "\n" if ended else line)
        self._open.size += len(line)

    def _end_code(self) -> None:
        if self._fence is not None:
            self._fence.closed = True
        self._fence = None
        self._blank_code_lines = 0

    # ------------------------------------------------------------------------- sections

    def _begin(self, kind: Kind, *, gap: bool, number: int | None = None) -> Section:
        """Close the open section, and open a new section in the current list item."""
        is_first = self._open is None
        self._close()
        self._serial += 1
        self._quoted_fence = ""
        item = self._items[-1] if self._items else None
        self._open = Section(
            kind,
            [],
            indent=item.indent if item else 0,
            column=item.content if item else 0,
            gap=gap and not is_first,
            number=number,
            serial=self._serial,
        )
        return self._open

    def _split(self) -> None:
        """Continue the open code block or table in a new section."""
        section = self._open
        assert section is not None
        self._close()
        self._serial += 1
        first = section.first or section
        self._open = replace(section, lines=[], size=0, gap=False, first=first, serial=self._serial)

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
            self.finished.append(self._open)
        self._open = None


def code_blocks(text: str) -> list[str]:
    """Return the content of each code block in a Markdown text, except for code blocks in quotes."""
    scanner = MarkdownScanner()
    scanner.feed(text)
    blocks: dict[int, list[str]] = {}
    for section in scanner.finished + scanner.tail():
        if section.kind == "code":
            blocks.setdefault(section.block, []).extend(section.lines)
    return ["".join(lines) for lines in blocks.values()]


LINES_PER_SECTION = 100


class PlainScanner:
    """Splits text into sections, like `MarkdownScanner`. The text may arrive in chunks of any size."""

    def __init__(self) -> None:
        self.finished: list[Section] = []
        """Sections that are final. The caller takes them and clears the list."""
        self._reader = MarkdownLineReader()
        self._open = Section("plain", [])

    def feed(self, text: str) -> None:
        for line, ended in self._reader.read(text, len):
            section = self._open
            section.lines.append(line)
            section.size += len(line) + 1
            if not ended or len(section.lines) >= LINES_PER_SECTION or section.size >= SECTION_SIZE:
                section.separator = None if ended else ""
                self.finished.append(section)
                self._open = Section("plain", [], serial=section.serial + 1)
                self._open.continues = "" if ended else "paragraph"

    def tail(self, pending: str = "") -> list[Section]:
        """Return the section that is not final yet, if any. `pending` is appended to the section's text."""
        section, last = self._open, self._reader.partial + pending
        lines = [*section.lines, *([last] if last else [])]
        if not lines:
            return []
        size = section.size + len(last)
        return [Section("plain", lines, size=size, serial=section.serial, continues=section.continues)]
