"""A section: a separately drawn part of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

_INDENT = re.compile(r"[ \t]*")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
LIST_ITEM = re.compile(r"(?:([-+*])|(\d{1,9})([.)]))(?:([ \t]+)(.*)|$)")
HEADING_UNDERLINE = re.compile(r"(?:-+|=+)[ \t]*$")
TABLE_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
LINK_DEFINITION = re.compile(r" {0,3}\[(?:[^]\\]|\\.)+\]:")
_PIPE = re.compile(r"(?<!\\)\|")
_QUOTE_MARKS = re.compile(r"[> ]*")


def block_start(content: str) -> str:
    """Return the kind of block that a line starts; "" for text. `content` is the line without indentation."""
    if content[0] == ">":
        return "quote"
    if _HEADING.match(content):
        return "heading"
    if FENCE.match(content):
        return "fence"
    if _RULE.match(content):
        return "rule"
    return "item" if LIST_ITEM.match(content) else ""


def interrupts(content: str) -> bool:
    """Return True if the line is a list item that may follow a paragraph without a blank line."""
    match = LIST_ITEM.match(content)
    return match is not None and bool(match[5] and match[5].strip()) and match[2] in (None, "1")


def closes_fence(marker: str, content: str) -> bool:
    """Return True if the line closes a fence that was opened with `marker`."""
    content = content.rstrip(" \t")
    return len(content) >= len(marker) and not content.strip(marker[0])


def count_columns(row: str) -> int:
    """Return the number of cells in a table row."""
    row = row.strip(" \t")
    return len(_PIPE.findall(row.removeprefix("|"))) + (not row.endswith("|") or row.endswith("\\|"))


def expand_indent(line: str) -> str:
    """Replace tabs in the indentation by spaces."""
    match = _INDENT.match(line)
    assert match is not None
    return line if "\t" not in match[0] else match[0].expandtabs(4) + line[match.end() :]


def split_line_end(line: str) -> tuple[str, str]:
    """Split a line of a paragraph into text and line end: "\\n" for a hard break, otherwise a space."""
    text = line.rstrip(" ")
    if len(line) - len(text) >= 2:
        return text, "\n"
    backslashes = len(line) - len(line.rstrip("\\"))
    return (line[:-1], "\n") if backslashes % 2 else (text, " ")


def split_quote_marks(content: str) -> tuple[str, str]:
    """Split a line of a quote into the `>` marks and the text."""
    match = _QUOTE_MARKS.match(content)
    assert match is not None
    return match[0], content[match.end() :]


def starts_block_in_quote(before: str, content: str) -> bool:
    """Return True if a long quote can be cut between two of its lines, `before` and `content`.

    It can be cut next to an empty line, before a block that `block_start` recognises, and after a heading, a
    rule or a fence. It is never cut before an indented line or a line without `>`.
    """
    _, text_before = split_quote_marks(before)
    marks, text = split_quote_marks(content)
    if not marks or marks.endswith("  "):  # a lazy continuation line, or part of a list item
        return False
    if not text or not text_before:
        return True
    return block_start(text) != "" or block_start(text_before) in ("heading", "rule", "fence")


SECTION_SIZE = 8192
"""The length, in characters, after which a paragraph is cut at the next suitable place."""
MAX_SECTION_SIZE = 2 * SECTION_SIZE
"""The length, in characters, at which a paragraph is cut even if there is no good place to cut it."""

Kind = Literal["text", "rest", "code", "table", "plain"]


@dataclass(slots=True, eq=False)
class Fence:
    """A code block, fenced or indented. `marker` is empty for an indented block."""

    marker: str
    info: str
    column: int  # of the container's content
    indent: int  # of the fence within the container
    closed: bool = False


@dataclass(slots=True, frozen=True)
class ListItem:
    """A list item that has not ended yet."""

    content: int  # the column where the content starts in the source
    indent: int  # the cells before the content on the screen
    sign: str  # the bullet, or the character after the number
    number: int


@dataclass(slots=True, eq=False)
class Section:
    """A paragraph, heading, list item or quote, or part of a table, of a code block or of a long paragraph.

    The kind "text" holds Markdown blocks; "rest" holds the remainder of a cut paragraph, with inline markup
    only; "plain" holds text other than Markdown. The `lines` of code include their line ends; other lines
    do not.
    """

    kind: Kind
    lines: list[str]
    indent: int = 0  # cells, for the list items around it
    column: int = 0  # indentation to remove from its lines
    gap: bool = False  # a blank line above
    number: int | None = None  # the number of an ordered list item
    quote: bool = False
    fence: Fence | None = None
    head: list[str] = field(default_factory=list)  # the header and delimiter row of a table
    first: Section | None = None  # the first section of the same code block or table, if this is a later one
    continues: Literal["", "paragraph", "quote"] = ""  # the block that started in an earlier section
    separator: str | None = None  # between this and the section that continues its paragraph: "", " ", "\n"
    size: int = 0
    serial: int = 0  # identifies the section, also after it has grown

    @property
    def text(self) -> str:
        """The section's text for the parser, including the header of a table."""
        return "\n".join(self.head + self.lines)

    @property
    def block(self) -> int:
        """The serial of the first section of the code block or table that this section is part of."""
        return (self.first or self).serial

    @property
    def is_tight(self) -> bool:
        """True for a paragraph or list item: a list in the next line is drawn without a blank line above."""
        if self.kind == "rest":
            return True
        return self.kind == "text" and block_start(self.lines[0].lstrip(" ") or " ") in ("", "item")

    def looks_like(self, other: Section) -> bool:
        """Return True if `other`, a later version of this section, would look exactly the same."""
        return (self.kind, self.separator, self.head, self.lines) == (
            other.kind,
            other.separator,
            other.head,
            other.lines,
        )


class MarkdownLineReader:
    """Joins chunks of text into lines. Long lines are cut at the same places, whatever the chunks are."""

    def __init__(self, partial: list[str] | None = None) -> None:
        self._partial = partial or []
        self._size = sum(map(len, self._partial))

    @property
    def partial(self) -> str:
        """What `read` has not returned yet of the last line."""
        return "".join(self._partial)

    def copy(self) -> MarkdownLineReader:
        """Return a reader in the same state."""
        return MarkdownLineReader(list(self._partial))

    def read(self, text: str, cut_position: Callable[[str], int]) -> Iterator[tuple[str, bool]]:
        """Read more text. Yield pairs: a line or a part of a long line, and True if the line ends there.

        `cut_position` returns the length of the first part of a long line. The result can depend on earlier
        parts, so `cut_position` is called only after the caller has processed the earlier parts.
        """
        for number, line in enumerate(text.split("\n")):
            if number:
                yield self._take(), True
            if line:
                self._partial.append(line)
                self._size += len(line)
            if self._size >= SECTION_SIZE:
                rest = self._take()
                start = 0
                while len(rest) - start >= SECTION_SIZE:
                    end = start + cut_position(rest[start : start + SECTION_SIZE])
                    yield rest[start:end], False
                    start = end
                self._partial, self._size = [rest[start:]], len(rest) - start

    def _take(self) -> str:
        line = self.partial
        self._partial, self._size = [], 0
        return line
