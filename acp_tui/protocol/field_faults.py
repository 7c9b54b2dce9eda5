"""Finds fields in what an agent sends that are wrong, and that the readers therefore leave out or convert.

`acp-tui doctor` compares messages with the whole schema. Here, fields that are missing, null or unknown are
no fault, unless the readers leave out something because of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_tui.session.events import ProtocolFault
from acp_tui.session.safe_text import escape_line

_TEXT, _INTEGER, _NUMBER = "a string", "a whole number", "a number"
_LIST, _OBJECT, _FLAG = "a list", "an object", "true or false"
_STATUS = ("pending", "in_progress", "completed", "failed")

Shape = str | tuple[str, ...] | list[Any] | dict[str, Any]
"""What a value must be: the words for a type, some strings, a list of one `Shape`, or an object with several.

Items of a list without the first field of their shape are left out.
"""

_TOOL_CALL: dict[str, Shape] = {
    "toolCallId": _TEXT,
    "title": _TEXT,
    "name": _TEXT,
    "kind": _TEXT,
    "status": _STATUS,
    "content": [_OBJECT],
    "locations": [{"path": _TEXT, "line": _INTEGER}],
}
_PLAN_ENTRIES: Shape = [{"content": _TEXT, "status": _TEXT, "priority": _TEXT}]
_CONFIG_OPTIONS: Shape = [{"id": _TEXT, "name": _TEXT, "type": _TEXT}]
_MODES: Shape = {"currentModeId": _TEXT, "availableModes": [{"id": _TEXT, "name": _TEXT}]}
_OPENED: Shape = {"modes": _MODES, "configOptions": _CONFIG_OPTIONS}
SHAPES: dict[str, Shape] = {
    "tool_call": _TOOL_CALL,
    "tool_call_update": _TOOL_CALL,
    "plan": {"entries": _PLAN_ENTRIES},
    "plan_update": {"plan": {"entries": _PLAN_ENTRIES}},
    "available_commands_update": {"availableCommands": [{"name": _TEXT, "description": _TEXT}]},
    "current_mode_update": {"currentModeId": _TEXT},
    "config_option_update": {"configOptions": _CONFIG_OPTIONS},
    "session_info_update": {"title": _TEXT, "updatedAt": _TEXT},
    "usage_update": {"used": _INTEGER, "size": _INTEGER, "cost": {"amount": _NUMBER, "currency": _TEXT}},
    "notice": {"title": _TEXT, "severity": _TEXT, "description": _TEXT},
    "compaction_update": {"compactionId": _TEXT, "status": _TEXT, "error": _TEXT},
    "initialize": {
        "agentInfo": {"name": _TEXT, "title": _TEXT, "version": _TEXT},
        "agentCapabilities": {
            "loadSession": _FLAG,
            "promptCapabilities": {"image": _FLAG, "audio": _FLAG, "embeddedContext": _FLAG},
            "mcpCapabilities": {"http": _FLAG, "sse": _FLAG},
        },
        "authMethods": [{"id": _TEXT, "name": _TEXT}],
    },
    "session/new": _OPENED,
    "session/load": _OPENED,
    "session/resume": _OPENED,
    "session/fork": _OPENED,
    "session/request_permission": {
        "toolCall": _TOOL_CALL,
        "options": [{"optionId": _TEXT, "name": _TEXT, "kind": _TEXT}],
    },
}
"""The fields that acp-tui reads, by the kind of a session update, or the method of a request or response."""


_OPENED_V2: Shape = {"configOptions": [{"configId": _TEXT, "name": _TEXT, "type": _TEXT}]}
_CANCEL: Shape = {"cancel": _OBJECT}
_TOOL_CALL_V2: Shape = {**_TOOL_CALL, "status": _TEXT, "capabilities": _CANCEL}
SHAPES_V2: dict[str, Shape] = {
    **SHAPES,
    "tool_call_update": _TOOL_CALL_V2,
    "tool_call_content_chunk": {"toolCallId": _TEXT, "content": _OBJECT},
    "user_message": {"messageId": _TEXT, "content": _LIST},
    "agent_message": {"messageId": _TEXT, "content": _LIST},
    "agent_thought": {"messageId": _TEXT, "content": _LIST},
    "state_update": {"state": _TEXT, "stopReason": _TEXT, "error": _OBJECT},
    "terminal_update": {
        "terminalId": _TEXT,
        "command": _TEXT,
        "cwd": _TEXT,
        "output": {"data": _TEXT},
        "exitStatus": {"exitCode": _INTEGER, "signal": _TEXT},
        "capabilities": _CANCEL,
    },
    "terminal_output_chunk": {"terminalId": _TEXT, "data": _TEXT},
    "config_option_update": _OPENED_V2,
    "initialize": {
        "info": {"name": _TEXT, "title": _TEXT, "version": _TEXT},
        "capabilities": {"session": {"prompt": _OBJECT, "mcp": _OBJECT}},
        "authMethods": [{"methodId": _TEXT, "name": _TEXT}],
    },
    "session/new": _OPENED_V2,
    "session/resume": _OPENED_V2,
    "session/fork": _OPENED_V2,
    "session/request_permission": {
        "title": _TEXT,
        "description": _TEXT,
        "subject": {
            "type": _TEXT,
            "toolCall": _TOOL_CALL_V2,
            "command": _TEXT,
            "cwd": _TEXT,
            "toolCallId": _TEXT,
            "terminalId": _TEXT,
        },
        "options": [{"optionId": _TEXT, "name": _TEXT, "kind": _TEXT}],
    },
}
"""The same for version 2."""


def field_faults(
    what: str, value: dict[str, Any], shapes: Mapping[str, Shape] = SHAPES
) -> list[ProtocolFault]:
    """Return a fault that names all wrong fields of a message, or nothing. `what` is a key of `shapes`."""
    shape = shapes.get(what)
    if not isinstance(shape, dict):
        return []
    faults = list(dict.fromkeys(_faults(shape, value, "")))
    others = [name for name in value if name not in ("sessionUpdate", "_meta")]
    if "sessionUpdate" in value and others and not any(name in shape for name in others):
        faults = [f"none of {', '.join(shape)} (it has: {escape_line(', '.join(others)[:80])})"]
    return [ProtocolFault(f"Wrong fields in {what}: {'; '.join(faults)}", value)] if faults else []


def _faults(shape: Shape, value: Any, path: str) -> list[str]:
    if isinstance(shape, tuple):
        return [] if value in shape else [f"{path} must be one of {', '.join(shape)}"]
    kind = shape if isinstance(shape, str) else _LIST if isinstance(shape, list) else _OBJECT
    if not _is(value, kind):
        return [f"{path} must be {kind}"]
    faults: list[str] = []
    if isinstance(shape, dict):
        for name, inner in shape.items():
            if value.get(name) is not None:
                faults += _faults(inner, value[name], f"{path}.{name}" if path else name)
    elif isinstance(shape, list):
        for item in value:
            faults += _faults(shape[0], item, f"{path}[]")
            if isinstance(item, dict) and isinstance(shape[0], dict):
                first = next(iter(shape[0]))
                faults += [f"{path}[].{first} is missing"] if item.get(first) is None else []
    return faults


def _is(value: Any, kind: str) -> bool:
    if kind in _CLASSES:
        return isinstance(value, _CLASSES[kind])
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and (kind == _NUMBER or not isinstance(value, float) or value.is_integer())


_CLASSES = {_TEXT: str, _LIST: list, _OBJECT: dict, _FLAG: bool}
