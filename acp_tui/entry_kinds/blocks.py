"""The blocks in which every kind of entry describes itself.

The Markdown and HTML exports and the plain text are made from blocks, and need no code for particular kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from acp_tui.session.state import Content, Diff, PlanItem
    from acp_tui.session.terminal_text import TerminalText


# --------------------------------------------------------------------------- parts of a block


class PlainText(NamedTuple):
    """Text without markup, such as a prompt. Its line breaks are kept."""

    text: str
    withheld: bool = False  # not for the user: plain text has only the number of its lines


class MarkdownText(NamedTuple):
    """Markdown from an agent."""

    text: str
    withheld: bool = False  # as above


class ContentBlock(NamedTuple):
    """An image, a file, a link or text. With `verbatim`, the text is a tool's output rather than prose."""

    content: Content
    verbatim: bool = False


class Code(NamedTuple):
    """Text in a fixed-width font."""

    text: str
    language: str = ""
    label: str = ""


class DiffBlock(NamedTuple):
    """The changes to one file."""

    diff: Diff
    label: str
    first_line: int = 1  # 0: not known


class TerminalBlock(NamedTuple):
    """A command that ran in a terminal, with the command's output."""

    output: TerminalText
    command: str
    end: str  # how it ended, in a few words


class FileList(NamedTuple):
    """Files that an entry is about, each with its line number if known."""

    files: Sequence[str]


class Steps(NamedTuple):
    """The steps of a plan."""

    items: Sequence[PlanItem]


class Link(NamedTuple):
    """A link to the resource at `uri`."""

    uri: str


Part = PlainText | MarkdownText | ContentBlock | Code | DiffBlock | TerminalBlock | FileList | Steps | Link


# --------------------------------------------------------------------------- blocks


class Speech(NamedTuple):
    """A message of the user or the agent."""

    speaker: Literal["user", "agent"]
    parts: Sequence[Part]


class Headline(NamedTuple):
    """The first line of a foldable block."""

    title: str
    icon: str = ""
    is_command: bool = False
    facts: Sequence[str] = ()
    status: str = ""  # of a tool call
    changed_lines: tuple[int, int] = (0, 0)  # added and removed


class FoldBlock(NamedTuple):
    """Something the agent thought or did: a headline with parts below. If `folded`, the parts are hidden."""

    headline: Headline
    parts: Sequence[Part]
    folded: bool


class SectionBlock(NamedTuple):
    """A block that cannot be folded: parts, with an optional title above them."""

    title: str
    parts: Sequence[Part]


class Aside(NamedTuple):
    """A line, such as a notice, about an event. If the line is unfolded, its optional `detail` is shown."""

    level: Literal["info", "success", "warning", "error"]
    sign: str
    text: str
    detail: str = ""


Block = Speech | FoldBlock | SectionBlock | Aside
