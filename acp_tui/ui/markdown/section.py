"""A section: a separately drawn part of a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from acp_tui.ui.markdown.lines import block_start

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
