"""The blocks that Markdown and HTML exports consist of.

Every kind of entry describes itself in blocks, so that the exporters need no code for particular kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from acp_tui.session.safe_text import escape_controls, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Sized

    from acp_tui.session.state import Content, Diff, PlanItem
    from acp_tui.session.terminal_text import TerminalText


# --------------------------------------------------------------------------- parts of a block


class PlainText(NamedTuple):
    """Text without markup, such as a prompt. Its line breaks are kept."""

    text: str


class MarkdownText(NamedTuple):
    """Markdown from an agent."""

    text: str


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


def indented(lines: Iterable[str], indent: str = "    ") -> Iterator[str]:
    """Indent lines; empty lines get no trailing spaces."""
    return (f"{indent}{line}" if line else indent.rstrip() for line in lines)


def line_count(lines: Sized) -> str:
    """Return the number of lines as text: `1 line`, `2 lines`."""
    return f"{len(lines)} line{'' if len(lines) == 1 else 's'}"


def raw_lines(value: object) -> list[str]:
    """Return the lines of a value that the agent sent: a string as text, anything else as JSON."""
    text = escape_controls(value) if isinstance(value, str) else visible_json(value)
    return text.splitlines()


def content_lines(content: Content) -> Iterator[str]:
    """Yield the lines of a text block; for an image, a file or a link, yield a description."""
    if content.kind == "text":
        yield from content.text.splitlines()
        return
    facts = [content.name or content.title, content.uri, content.mime, content.description]
    if content.data is not None:
        facts.append(f"{len(content.data.rstrip('=')) * 3 // 4} bytes")
    elif content.size is not None:
        facts.append(f"{content.size} bytes")
    yield f"[{content.kind}: {', '.join(fact for fact in facts if fact)}]"
    yield from indented(content.text.splitlines())
    if content.raw is not None:
        yield from indented(raw_lines(content.raw))


def withheld(lines: Sized) -> str:
    """Return the line that is shown instead of `lines`, which the agent has marked as not for the user."""
    return f"[for the agent only: {line_count(lines)}]"
