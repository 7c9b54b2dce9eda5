"""Reads content blocks and the content of tool calls. Unreadable values are kept unchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from acp_tui.protocol import values
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.session.state import Annotations, Content, Diff, Location, TerminalRef, ToolContent
from acp_tui.session.terminal_text import SGR, keep_colours

UNREADABLE = "unreadable"
"""The kind of a content block that cannot be read, for example because it has no type."""
_PATCHED = re.compile(r"^(?:\+\+\+ (?:b/)?|--- (?:a/)?|Index: )([^\t\n]+)", re.MULTILINE)
_HUNK = re.compile("^@@", re.MULTILINE)


def read_blocks(value: Any) -> list[Content]:
    """Read the content of a message or prompt: one block, several, or a plain string."""
    return [read_block(item) for item in (value if isinstance(value, list) else [value])]


def read_block(value: Any) -> Content:
    if isinstance(value, str):
        return Content("text", text=escape_controls(value))
    if not isinstance(value, dict):
        return Content(UNREADABLE, raw=value)
    kind = value.get("type")
    if kind is None and isinstance(value.get("text"), str):
        kind = "text"
    reader = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return Content(escape_line(kind) if isinstance(kind, str) else UNREADABLE, raw=value)
    content = reader(value)
    if isinstance(value.get("annotations"), dict):
        content.annotations = read_annotations(value["annotations"])
    return content


def _text(value: dict[str, Any]) -> Content:
    text = value.get("text")
    return (
        Content("text", text=escape_controls(text))
        if isinstance(text, str)
        else Content(UNREADABLE, raw=value)
    )


def _media(value: dict[str, Any]) -> Content:
    return Content(
        value["type"],
        data=values.raw(value, "data"),
        mime=values.line(value, "mimeType"),
        uri=values.line(value, "uri"),
    )


def _link(value: dict[str, Any]) -> Content:
    return Content(
        "resource_link",
        uri=values.line(value, "uri"),
        name=values.line(value, "name"),
        title=values.line(value, "title"),
        description=values.text(value, "description"),
        mime=values.line(value, "mimeType"),
        size=values.integer(value, "size"),
    )


def _resource(value: dict[str, Any]) -> Content:
    resource = values.obj(value.get("resource"))
    if not resource:
        return Content(UNREADABLE, raw=value)
    return Content(
        "resource",
        text=values.text(resource, "text") or "",
        data=values.raw(resource, "blob"),
        uri=values.line(resource, "uri"),
        mime=values.line(resource, "mimeType"),
    )


_BLOCKS = {"text": _text, "image": _media, "audio": _media, "resource_link": _link, "resource": _resource}


def read_annotations(value: Any) -> Annotations | None:
    """Read a block's annotations; None if no field that the protocol defines has a usable value."""
    if not isinstance(value, dict):
        return None
    found = Annotations(
        audience=tuple(escape_line(who) for who in values.strings(value.get("audience"))),
        priority=values.number(value, "priority"),
        last_modified=values.line(value, "lastModified"),
    )
    return found if found != Annotations() else None


# --------------------------------------------------------------------------- tool calls


def read_tool_content(value: Any) -> list[ToolContent] | None:
    """Read a tool call's content, an array or a single item. Return None if the content is missing."""
    if value is None:
        return None
    found: list[ToolContent] = []
    for item in value if isinstance(value, list) else [value]:
        found += _tool_content(item)
    return found


def _tool_content(item: Any) -> Sequence[ToolContent]:
    """Read one item of a tool call's content.

    In the 0.1.0 draft of the protocol, an item can itself be a content block.
    """
    if isinstance(item, dict):
        kind = item.get("type")
        if kind == "content" and "content" in item:
            inner = item["content"]
            return [read_coloured_block(block) for block in (inner if isinstance(inner, list) else [inner])]
        if kind == "diff" and (diff := _diff(item)) is not None:
            return [diff]
        if kind == "terminal" and (terminal_id := values.raw(item, "terminalId", "terminal_id")) is not None:
            return [TerminalRef(terminal_id)]
    return [read_coloured_block(item)]


def read_coloured_block(value: Any) -> Content:
    """Read a content block, and store its text with SGR colours in `Content.coloured`.

    Whether the colours are shown depends on the kind of the tool call.
    """
    content = read_block(value)
    text = value.get("text") if isinstance(value, dict) else value
    if content.kind == "text" and isinstance(text, str) and SGR.search(text):
        content.coloured = keep_colours(text)
    return content


def _diff(item: dict[str, Any]) -> Diff | None:
    for name in ("diff", "patch", "unifiedDiff"):
        if isinstance(item.get(name), str):
            return patch_diff(item[name], values.line(item, "path"))
    path = values.line(item, "path")
    if path is None:
        return None
    # A new file is `oldText` null, "" or absent.
    old, new = values.text(item, "oldText") or None, values.text(item, "newText")
    return Diff(path, old, new, line_ends=line_ends(values.raw(item, "oldText"), values.raw(item, "newText")))


def line_ends(old: str | None, new: str | None) -> tuple[str, str] | None:
    """Return the line endings of the old and the new text, such as "CRLF" and "LF".

    Return None if the line endings are equal, or if one of the texts has no line break or is missing.
    The diff itself cannot show the difference, because texts for display contain only `\\n`.
    """
    if not old or not new or ("\r\n" not in old and "\r\n" not in new):
        return None
    ends = _line_end(old), _line_end(new)
    return ends if ends[0] != ends[1] and "" not in ends else None


def _line_end(text: str) -> str:
    breaks, windows = text.count("\n"), text.count("\r\n")
    return "" if not breaks else "LF" if not windows else "CRLF" if windows == breaks else "mixed"


def patch_diff(patch: str, path: str | None = None) -> Diff:
    """Convert the text of a unified diff to a `Diff`.

    If `path` is None, read the path from the lines before the first hunk; empty if there is none.
    """
    patch = escape_controls(patch)
    if path is None:
        header = _HUNK.split(patch, maxsplit=1)[0]  # a removed `-- comment` looks like the name of a file
        named = [name.strip() for name in _PATCHED.findall(header) if name.strip() != "/dev/null"]
        path = named[-1] if named else ""
    return Diff(path, old=None, new=None, patch=patch)


def read_locations(value: Any) -> list[Location] | None:
    """Read the locations of a tool call; None if the value is not a list."""
    if not isinstance(value, list):
        return None
    found: list[Location] = []
    for item in value:
        if isinstance(item, str):
            found.append(Location(escape_line(item)))
        elif isinstance(item, dict) and (path := values.line(item, "path")) is not None:
            found.append(Location(path, values.integer(item, "line")))
    return found
