"""Prints what tools, prompts and resources return: text as it is, everything else by its type and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.console.quantities import format_size
from acp_tui.console.streams import content_stream, print_json
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_blocks(blocks: Sequence[dict[str, Any]]) -> None:
    """Print content blocks, each on lines of its own."""
    for block in blocks:
        text = block_text(block)
        print(text, end="" if text.endswith("\n") else "\n", file=content_stream())


def print_result(blocks: Sequence[dict[str, Any]], structured: Any) -> None:
    """Print the result of a tool: its content blocks, or the structured form if there are no blocks."""
    print_blocks(blocks)
    if not blocks and structured is not None:
        print_json(structured)


def block_text(block: dict[str, Any]) -> str:
    """Return a content block as text."""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        return f"[{kind} {_line(block.get('mimeType'))}, {_size(block.get('data'))}]"
    if kind == "resource_link":
        return f"[resource {_line(block.get('name'))} {_line(block.get('uri'))}]"
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, dict):
        if isinstance(text := resource.get("text"), str):
            return text
        what = _line(resource.get("mimeType") or "binary data")
        return f"[{_line(resource.get('uri'))} {what}, {_size(resource.get('blob'))}]"
    return f"[{_line(kind)}]"


def _size(base64_text: object) -> str:
    text = base64_text if isinstance(base64_text, str) else ""
    return format_size(len(text) * 3 // 4 - text[-2:].count("="))


def _line(value: object) -> str:
    return visible_line(str(value or ""))
