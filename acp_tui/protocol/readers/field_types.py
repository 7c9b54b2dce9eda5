"""Finds fields of a wrong type in what an agent sends, which `values` reads as missing or converts.

Fields that are missing, null or unknown are no fault here; `acp-tui doctor` compares messages with the whole
schema.
"""

from __future__ import annotations

from typing import Any

_TEXT, _INTEGER, _NUMBER = "a string", "a whole number", "a number"
_LIST, _OBJECT = "a list", "an object"

Shape = str | list[Any] | dict[str, Any]
"""What a value must be: the words for a type, a list of one `Shape`, an object with one per field."""

_TOOL_CALL: Shape = {
    "toolCallId": _TEXT,
    "title": _TEXT,
    "name": _TEXT,
    "kind": _TEXT,
    "status": _TEXT,
    "content": [_OBJECT],
    "locations": [{"path": _TEXT, "line": _INTEGER}],
}
_PLAN_ENTRIES: Shape = [{"content": _TEXT, "status": _TEXT, "priority": _TEXT}]
SHAPES: dict[str, Shape] = {
    "tool_call": _TOOL_CALL,
    "tool_call_update": _TOOL_CALL,
    "plan": {"entries": _PLAN_ENTRIES},
    "plan_update": {"plan": {"entries": _PLAN_ENTRIES}},
    "available_commands_update": {"availableCommands": [{"name": _TEXT, "description": _TEXT}]},
    "current_mode_update": {"currentModeId": _TEXT},
    "config_option_update": {"configOptions": [{"id": _TEXT, "name": _TEXT, "type": _TEXT}]},
    "usage_update": {"used": _INTEGER, "size": _INTEGER, "cost": {"amount": _NUMBER, "currency": _TEXT}},
    "notice": {"title": _TEXT, "severity": _TEXT, "description": _TEXT},
    "compaction_update": {"compactionId": _TEXT, "status": _TEXT, "error": _TEXT},
    "session/request_permission": {
        "toolCall": _TOOL_CALL,
        "options": [{"optionId": _TEXT, "name": _TEXT, "kind": _TEXT}],
    },
}
"""The fields that acp-tui reads, by the kind of a session update or the method of a request."""


def wrong_types(what: str, value: dict[str, Any]) -> list[str]:
    """Return what the fields of a wrong type must be: "title must be a string"."""
    shape = SHAPES.get(what)
    return [] if shape is None else list(dict.fromkeys(_faults(shape, value, "")))


def _faults(shape: Shape, value: Any, path: str) -> list[str]:
    kind = shape if isinstance(shape, str) else _LIST if isinstance(shape, list) else _OBJECT
    if not _is(value, kind):
        return [f"{path} must be {kind}"]
    if isinstance(shape, dict):
        fields = ((name, value.get(name)) for name in shape)
        dot = f"{path}." if path else ""
        return [
            fault
            for name, field in fields
            if field is not None
            for fault in _faults(shape[name], field, f"{dot}{name}")
        ]
    if isinstance(shape, list):
        return [fault for item in value for fault in _faults(shape[0], item, f"{path}[]")]
    return []


def _is(value: Any, kind: str) -> bool:
    if kind == _TEXT:
        return isinstance(value, str)
    if kind == _LIST:
        return isinstance(value, list)
    if kind == _OBJECT:
        return isinstance(value, dict)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and (kind == _NUMBER or not isinstance(value, float) or value.is_integer())
