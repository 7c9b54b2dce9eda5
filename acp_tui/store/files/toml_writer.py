"""Writes TOML. The standard library only reads it."""

from __future__ import annotations

import json
import re
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def table_text(path: tuple[str, ...], entry: dict[str, Any]) -> str:
    """Return a table with its header.

    Nested tables are written inline; keys with the value None are left out.
    """
    header = ".".join(_key(name) for name in path)
    return "".join([f"[{header}]\n", *(f"{_key(name)} = {_value(value)}\n" for name, value in _given(entry))])


def _given(entry: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in entry.items() if value is not None]


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        pairs = [f"{_key(name)} = {_value(item)}" for name, item in _given(value)]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value if item is not None)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)  # numbers, dates and times: all as in TOML


def _string(text: str) -> str:
    """Return a TOML basic string, which is written like a JSON string except that TOML also escapes DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
