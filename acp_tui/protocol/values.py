"""Reads values from untrusted JSON. A value of the wrong type counts as missing."""

from __future__ import annotations

from typing import Any

from acp_tui.session.text import visible, visible_line

MAX_LENGTH = 100_000
"""The maximum length of a title or command. It takes half a second to make megabytes safe to display."""


def limit_length(value: str) -> str:
    """Return the text, cut at `MAX_LENGTH`, with the number of characters cut."""
    if len(value) <= MAX_LENGTH:
        return value
    return f"{value[:MAX_LENGTH]} … {len(value) - MAX_LENGTH:,} more characters"


def obj(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return the value if it is an array, otherwise an empty one."""
    return value if isinstance(value, list) else []


def first(source: dict[str, Any], *names: str) -> Any:
    """Return the value of the first of these keys that is not null; None if there is none."""
    for name in names:
        value = source.get(name)
        if value is not None:
            return value
    return None


def raw(source: dict[str, Any], *names: str) -> str | None:
    """Return a string unchanged, for ids and anything else that is sent back. Integers become strings."""
    value = first(source, *names)
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def line(source: dict[str, Any], *names: str) -> str | None:
    """Return a string for display on one line, limited in length."""
    value = raw(source, *names)
    return None if value is None else visible_line(limit_length(value))


def text(source: dict[str, Any], *names: str) -> str | None:
    """Return a string for display."""
    value = raw(source, *names)
    return None if value is None else visible(value)


def integer(source: dict[str, Any], *names: str) -> int | None:
    """Return an integer, also from a float without a fraction."""
    value = first(source, *names)
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def number(source: dict[str, Any], name: str) -> float | None:
    """Return an integer or a float as a float."""
    value = source.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def strings(value: Any) -> list[str]:
    """Return the strings of an array."""
    return [item for item in items(value) if isinstance(item, str)]
