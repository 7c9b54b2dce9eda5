"""Blocks as plain text, as `sessions show` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING

from acp_tui.console import pluralize
from acp_tui.entry_kinds.blocks import (
    Aside,
    Block,
    Code,
    ContentBlock,
    DiffBlock,
    FileList,
    FoldBlock,
    Link,
    MarkdownText,
    Part,
    PlainText,
    SectionBlock,
    Speech,
    Steps,
    TerminalBlock,
)
from acp_tui.entry_labels import CHECKBOXES
from acp_tui.session.safe_text import escape_controls, visible_json

if TYPE_CHECKING:
    from acp_tui.session.state import Content
    from acp_tui.session.terminal_text import TerminalText

LEVEL_SIGNS = {"info": "-", "success": "-", "warning": "!", "error": "!!"}
MAX_OUTPUT_LINES = 40
"""The maximum number of lines of a command's output. Longer output is cut to its last lines."""


def text_lines(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the lines of blocks as plain text."""
    for block in blocks:
        match block:
            case Speech(speaker, parts):
                yield from indented(joined_lines(parts), "> ") if speaker == "user" else joined_lines(parts)
            case FoldBlock(headline, parts):
                facts = f" ({', '.join(headline.facts)})" if headline.facts else ""
                yield f"- {headline.title}{facts}"
                yield from indented(joined_lines(parts))
            case SectionBlock(title, parts):
                if title:
                    yield title
                for part in parts:
                    yield from indented(part_lines(part), "  " if title else "")
            case Aside(level, _, text, detail):
                yield f"{LEVEL_SIGNS[level]} {text}"
                yield from indented(detail.splitlines())


def joined_lines(parts: Sequence[Part]) -> list[str]:
    """Return the lines of the parts of a message: texts continue each other, other parts stand alone."""
    pieces: list[str] = []
    for part in parts:
        match part:
            case PlainText(text) | MarkdownText(text) if not part.withheld:
                pieces.append(text)
            case ContentBlock(content) if content.kind == "text" and not content.for_assistant_only:
                pieces.append("\n".join(part_lines(part)))
            case _:
                pieces.append("\n".join(["", *part_lines(part), ""]))
    return "".join(pieces).strip("\n").splitlines()


def part_lines(part: Part) -> Iterable[str]:
    """Return the lines of a part of a block."""
    match part:
        case PlainText(text, withheld) | MarkdownText(text, withheld):
            return [_count_withheld(text.splitlines())] if withheld else text.splitlines()
        case ContentBlock(content):
            lines = [*_content_lines(content)]
            return [_count_withheld(lines)] if content.for_assistant_only else lines
        case Code(text, _, label):
            return [*([f"{label}:"] if label else []), *text.splitlines()]
        case DiffBlock(diff, label, first_line):
            from acp_tui.diffing.patch import diff_lines

            return [label, *diff_lines(diff, first_line)]
        case TerminalBlock(output, command, end):
            return [command, *last_output_lines(output), f"[{end}]"]
        case FileList(files):
            return files
        case Steps(items):
            return [f"{CHECKBOXES.get(item.status, f'[{item.status}]')} {item.content}" for item in items]
        case Link(uri):
            return [uri]


def _count_withheld(lines: Sized) -> str:
    """Return the line that is shown instead of `lines`, which the agent has marked as not for the user."""
    return f"[for the agent only: {pluralize(len(lines), 'line')}]"


def _content_lines(content: Content) -> Iterator[str]:
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


def last_output_lines(output: TerminalText) -> Iterator[str]:
    """Yield the last lines of a command's output, without colours."""
    from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

    emulator = TerminalEmulator(styles=False)
    emulator.feed(output.tail or output.head)
    lines = emulator.text().rstrip("\n").splitlines()
    if output.tail or len(lines) > MAX_OUTPUT_LINES:
        yield f"… last {min(len(lines), MAX_OUTPUT_LINES)} lines:"
    yield from lines[-MAX_OUTPUT_LINES:]


def raw_lines(value: object) -> list[str]:
    """Return the lines of a value that the agent sent: a string as text, anything else as JSON."""
    text = escape_controls(value) if isinstance(value, str) else visible_json(value)
    return text.splitlines()


def indented(lines: Iterable[str], indent: str = "    ") -> Iterator[str]:
    """Indent lines; empty lines get no trailing spaces."""
    return (f"{indent}{line}" if line else indent.rstrip() for line in lines)
