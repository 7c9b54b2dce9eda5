"""Resolves references inside one schema, and merges an `allOf` of one part into the surrounding schema."""

from __future__ import annotations

from collections import deque
from typing import Any

MAX_HOPS = 16
"""The maximum number of references that are followed in a row. A longer chain may be a cycle."""

MAX_PARTS = 20_000
"""The maximum number of values in a schema that are searched for an anchor."""

Schema = dict[str, Any]


def resolved(schema: object, root: Schema) -> Schema | None:
    """Return a schema without `$ref` at its top; None if the schema is not an object or cannot be resolved.

    Only references within the schema are followed. Keywords beside a reference are kept.
    """
    beside: Schema = {}
    for _ in range(MAX_HOPS):
        if not isinstance(schema, dict):
            return None
        parts = schema.get("allOf")
        beside = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")} | beside
        if "$ref" in schema and parts is None:
            schema = _target(schema["$ref"], root)
        elif isinstance(parts, list) and len(parts) == 1 and "$ref" not in schema:
            schema = parts[0]
        else:
            return beside if parts is None else None
    return None


def _target(reference: object, root: Schema) -> object:
    """Return the target of a reference: a JSON pointer such as `#/$defs/Colour`, or an anchor (`#colour`).

    None if the target does not exist, or if a pointer leads into an array.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    fragment = reference[1:]
    if fragment and not fragment.startswith("/"):
        return _anchored(fragment, root)
    target: object = root
    for step in fragment.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        target = target.get(key) if isinstance(target, dict) else None
    return target


def _anchored(name: str, root: Schema) -> Schema | None:
    """Return the part of a schema that has an anchor; None if it is not among the first `MAX_PARTS` parts."""
    parts: deque[object] = deque([root])
    for _ in range(MAX_PARTS):
        if not parts:
            return None
        part = parts.popleft()
        if isinstance(part, dict):
            if name in (part.get("$anchor"), part.get("$dynamicAnchor")) or part.get("$id") == f"#{name}":
                return part
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return None
