"""Shows the fields of an entry as plain text: the fallback if the entry cannot be drawn or exported."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import escape_controls, escape_line

MAX_CHARACTERS = 20_000
"""The maximum number of characters shown of an entry. Each field of it has the same limit."""
MAX_DEPTH = 4
"""The maximum depth of nested fields. Deeper values are shown as JSON."""


def failure_note(entry: object, error: BaseException) -> str:
    """Return the note above the raw text: a sentence that says why the entry could not be drawn."""
    words = escape_line(f"{type(error).__name__}: {error}")[:200]
    return f"This entry ({type(entry).__name__}) could not be drawn: {words}. Its raw content follows."


def raw_text(entry: object) -> str:
    """Return an entry as text that is safe to display: `name: value` for each field.

    Fields that are empty, None or False are left out. Long texts are truncated.
    """
    try:
        text = "\n".join(_fields(entry, MAX_DEPTH))
    except Exception as error:  # the fallback itself must not fail
        text = f"({type(error).__name__} while reading the entry)"
    cut = len(text) > MAX_CHARACTERS
    return escape_controls(text[:MAX_CHARACTERS]) + (
        f"\n… {len(text) - MAX_CHARACTERS:,} more characters" if cut else ""
    )


def _fields(value: Any, depth: int) -> list[str]:
    lines: list[str] = []
    for field in dataclasses.fields(value):
        held = getattr(value, field.name, None)
        if held is None or held is False or held in ("", (), [], {}):
            continue
        text = _text(held, depth - 1)
        lines.append(f"{field.name}:\n{text}" if "\n" in text else f"{field.name}: {text}")
    return lines


def _text(value: Any, depth: int) -> str:
    if isinstance(value, (str, GrowingText)):
        return str(value)[:MAX_CHARACTERS]
    if dataclasses.is_dataclass(value) and depth > 0:
        return "\n".join(_fields(value, depth))
    if isinstance(value, (list, tuple)) and depth > 0:
        return "\n".join(_text(item, depth - 1) for item in value[:MAX_CHARACTERS])
    try:
        return json.dumps(value, ensure_ascii=False, default=str)[:MAX_CHARACTERS]
    except (ValueError, RecursionError) as error:
        return f"({type(error).__name__})"
