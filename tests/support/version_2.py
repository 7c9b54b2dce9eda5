"""Checks messages of version 2 against its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from acp_tui.wire import schema_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.record import Record

SCHEMA: dict[str, Any] = json.loads(
    Path(schema_check.__file__).with_name("acp-schema-v2.json").read_text(encoding="utf-8")
)
_SIDES = {"sent": ("agent", "client"), "received": ("client", "agent")}
"""The side that implements a request and the side that answers it, by the direction of the message."""


def violations(records: Sequence[Record], direction: Literal["sent", "received"]) -> list[str]:
    """Return what the schema says about the messages of one direction. Extensions are left out."""
    methods: dict[Any, str] = {}
    found: list[str] = []
    for record in records:
        frames = record.frame if isinstance(record.frame, list) else [record.frame]
        for frame in (each for each in frames if isinstance(each, dict) and record.direction != "client"):
            if record.direction == direction:
                found += _violations(frame, methods, direction)
            elif "method" in frame and "id" in frame:
                methods[frame["id"]] = frame["method"]
    return found


def _violations(frame: dict[str, Any], methods: dict[Any, str], direction: str) -> list[str]:
    takes, gives = _SIDES[direction]
    if "method" in frame:
        name, value = _definition(frame["method"], takes, is_answer=False), frame["params"]
    elif "result" in frame:
        name, value = _definition(methods[frame["id"]], gives, is_answer=True), frame["result"]
    else:
        return []
    if name is None:  # an extension
        return []
    validator = Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}", "anyOf": [{}]})
    definition = SCHEMA["$defs"][name]
    unknown = set() if "anyOf" in definition else set(value) - set(definition.get("properties", ()))
    return [f"{name}: {error.message[:300]}" for error in validator.iter_errors(value)] + [
        f"{name}: unknown {field}" for field in unknown
    ]


def _definition(method: str, side: str, *, is_answer: bool) -> str | None:
    names = (
        name
        for name, schema in SCHEMA["$defs"].items()
        if schema.get("x-method") == method
        and schema.get("x-side") in (side, "protocol")
        and name.endswith("Response") is is_answer
    )
    return next(names, None)
