"""Helpers for the plain text of entries, shared by several kinds of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized

    from acp_tui.session.state import Content


def indented(lines: Iterable[str], indent: str = "    ") -> Iterator[str]:
    """Indent lines; empty lines get no trailing spaces."""
    return (f"{indent}{line}" if line else indent.rstrip() for line in lines)


def line_count(lines: Sized) -> str:
    """Return the number of lines as text: `1 line`, `2 lines`."""
    return f"{len(lines)} line{'' if len(lines) == 1 else 's'}"


def raw_lines(value: object) -> list[str]:
    """Return the lines of a value that the agent sent: a string as text, anything else as JSON."""
    text = visible(value) if isinstance(value, str) else visible_json(value)
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
