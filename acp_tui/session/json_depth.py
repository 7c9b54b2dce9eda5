"""Limits how deeply JSON is nested, before recursive code walks the JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DEPTH = 64
"""The maximum number of levels: far more than any protocol needs, far fewer than Python's recursion limit."""
CUT = "…"


def exceeds_depth(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return True if the value is nested more than `depth` levels deep. Does not recurse."""
    level = _containers([value])
    for _ in range(depth):
        if not level:
            return False
        level = [
            item
            for outer in level
            for item in _containers(outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, (dict, list))]


def limit_depth(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return the value with everything deeper than `depth` replaced by an ellipsis."""
    return _cut(value, depth) if exceeds_depth(value, depth) else value


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item, depth - 1) for key, item in value.items()} if depth else CUT
    if isinstance(value, list):
        return [_cut(item, depth - 1) for item in value] if depth else CUT
    return value
