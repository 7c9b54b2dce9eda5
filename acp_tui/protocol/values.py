"""Reads values from untrusted JSON. A value of the wrong type counts as missing."""

from __future__ import annotations

from typing import Any

from acp_tui.session.safe_text import escape_controls, escape_line

MAX_INTEGER = 2**63 - 1
"""The largest number that is read. Larger numbers, infinity and NaN count as missing."""
MAX_LENGTH = 100_000
"""The maximum length of a title or command. Making megabytes of text safe to display takes half a second."""


def limit_length(value: str) -> str:
    """Truncate text longer than `MAX_LENGTH`, and append the number of omitted characters."""
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
    """Return the first value under these keys that is not null; None if there is no such value."""
    for name in names:
        value = source.get(name)
        if value is not None:
            return value
    return None


def raw(source: dict[str, Any], *names: str) -> str | None:
    """Return the first value under these keys if it is a string or an integer, else None.

    Strings are not made safe to display, because ids and other values are sent back to the agent unchanged.
    Integers become strings.
    """
    value = first(source, *names)
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def line(source: dict[str, Any], *names: str) -> str | None:
    """Return what `raw` returns, but made safe to display on one line, and truncated if it is too long."""
    value = raw(source, *names)
    return None if value is None else escape_line(limit_length(value))


def text(source: dict[str, Any], *names: str) -> str | None:
    """Return what `raw` returns, but made safe to display."""
    value = raw(source, *names)
    return None if value is None else escape_controls(value)


def integer(source: dict[str, Any], *names: str) -> int | None:
    """Return the first value under these keys if it is an integer of at most 63 bits, else None.

    A float without a fraction counts as an integer.
    """
    value = first(source, *names)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) <= MAX_INTEGER else None


def number(source: dict[str, Any], name: str) -> float | None:
    """Return the number under this key as a float; None if it is missing, NaN or beyond `MAX_INTEGER`."""
    value = source.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MAX_INTEGER:
        return None
    return float(value)


def strings(value: Any) -> list[str]:
    """Return the strings in an array, without its other values. Empty if the value is not an array."""
    return [item for item in items(value) if isinstance(item, str)]
