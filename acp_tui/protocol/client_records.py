"""Converts the client's own events to log records and back.

A record is `{"event": "snake_name", …fields}` without the fields that have their default value. Events
that result from frames are not logged, because the log contains the frames themselves.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import TYPE_CHECKING, Any

from acp_tui.session import events as ev
from acp_tui.session.safe_text import escape_controls, escape_line, visible_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES: tuple[type[ev.Event], ...] = (
    ev.AgentStarted,
    ev.AgentExited,
    ev.Decided,
    ev.DiffPlaced,
    ev.FileBeforeWrite,
    ev.HistoryCompleted,
    ev.McpCalled,
    ev.Noticed,
    ev.OwnToolCalled,
    ev.OwnToolEnded,
    ev.SettingsRestored,
    ev.Queued,
    ev.Unqueued,
    ev.QueuePaused,
    ev.TerminalCreated,
    ev.TerminalOutput,
    ev.TerminalExited,
)

# Control characters are replaced in all other fields: most are displayed and may quote an agent. These fields
# stay unchanged:
_UNCHANGED: dict[type[ev.Event], set[str]] = {
    ev.Decided: {"request_id"},  # ids are compared with those in frames
    ev.DiffPlaced: {"call_id", "path"},  # the path is compared with that of the diff
    ev.FileBeforeWrite: {"request_id", "line_ends"},
    ev.McpCalled: {"arguments", "result"},  # raw values, made safe where they are drawn
    ev.OwnToolCalled: {"call_id", "arguments", "diffs"},
    ev.OwnToolEnded: {"call_id"},
    ev.SettingsRestored: {"failed"},  # names of settings
    ev.Queued: {"id", "text", "blocks"},  # the prompt will be sent
    ev.Unqueued: {"id"},
    ev.TerminalCreated: {"terminal_id"},
    ev.TerminalOutput: {"terminal_id", "text"},  # the terminal emulator reads the text
    ev.TerminalExited: {"terminal_id"},
}


def _snake(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


_NAMES: dict[type[ev.Event], str] = {kind: _snake(kind.__name__) for kind in _TYPES}
_KINDS: dict[str, type[ev.Event]] = {
    **{name: kind for kind, name in _NAMES.items()},
    "history_awaited": ev.HistoryCompleted,  # its name in older logs
}


def to_record(event: ev.Event) -> dict[str, Any]:
    """Convert an event to a record.

    Accepts every kind of event, because `exec --output ndjson` prints all events. The log contains only
    the client's own events in this form.
    """
    return {"event": _NAMES.get(type(event)) or _snake(type(event).__name__), **_fields(event)}


def _fields(value: Any) -> dict[str, Any]:
    """Return those fields of a dataclass that do not have their default values."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        if content != _default(field):
            found[field.name] = _plain(content)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, ev.Event):
        return to_record(value)
    if dataclasses.is_dataclass(value):
        return _fields(value)
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def from_record(record: Any) -> ev.Event:
    """Convert a log record to an event; to `Unknown` if the record is damaged or of a newer version."""
    name = record.get("event") if isinstance(record, dict) else None
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        return ev.Unknown(f"client event {visible_excerpt(name, 80)}", record)
    values: dict[str, Any] = {}
    for field, check, required in _FIELDS[kind]:
        if field in record:
            value = record[field]
            if not check(value):
                return ev.Unknown(f"client event {_NAMES[kind]}", record)
            values[field] = value if field in _UNCHANGED.get(kind, ()) else _safe(value)
        elif required:
            return ev.Unknown(f"client event {_NAMES[kind]}", record)
    return kind(**values)


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _safe(value: Any) -> Any:
    """Return a value with its control characters replaced; a list of texts as lines."""
    match value:
        case str():
            return escape_controls(value)
        case list():
            return [escape_line(item) if isinstance(item, str) else _safe(item) for item in value]
        case dict():
            return {escape_line(key): _safe(item) for key, item in value.items()}
    return value


# --------------------------------------------------------------------------- checking fields


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return _integer(value) or (isinstance(value, float) and math.isfinite(value))


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _none_or(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


# By type annotation. Importing this module fails if an event uses an annotation that is missing here.
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "str": _text,
    "str | None": _none_or(_text),
    "int": _integer,
    "int | None": _none_or(_integer),
    "float": _number,
    "bool": _boolean,
    "bool | None": _none_or(_boolean),
    "Any": lambda _: True,
    "list[str]": _list_of(_text),
    "list[dict[str, Any]]": _list_of(lambda value: isinstance(value, dict)),
    "Level": lambda value: value in ("info", "warning", "error"),
    "TerminalOwner": lambda value: value in ("client", "agent", "user"),
    "RequestId": _none_or(lambda value: _text(value) or _integer(value)),
}

_FIELDS = {
    kind: [
        (field.name, _CHECKS[str(field.type)], _default(field) is dataclasses.MISSING)
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]  # every event is a dataclass
    ]
    for kind in _TYPES
}
