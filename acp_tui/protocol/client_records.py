"""Converts the client's own events to log records and back.

A record is `{"event": "snake_name", …fields}` without the fields that have their default value. Events
that result from frames are not logged, because the log contains the frames themselves.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from acp_tui.session import events as ev
from acp_tui.session.safe_text import escape_controls, escape_line, visible_excerpt


@cache
def _snake(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


def to_record(event: ev.Event) -> dict[str, Any]:
    """Convert an event to a record.

    Accepts every kind of event, because `exec --output ndjson` prints all events. The log contains only
    the client's own events in this form.
    """
    return {"event": _snake(type(event).__name__), **_fields(event)}


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
    for field in _FIELDS[kind]:
        if field.name in record:
            value = record[field.name]
            if not field.is_valid(value):
                return ev.Unknown(f"client event {name}", record)
            values[field.name] = value if field.raw else _safe(value)
        elif field.required:
            return ev.Unknown(f"client event {name}", record)
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


class _Field(NamedTuple):
    name: str
    is_valid: Callable[[Any], bool]
    raw: bool  # control characters are kept
    required: bool


def _read_field(field: dataclasses.Field[Any]) -> _Field:
    value_type = str(field.type)  # a string, because annotations are not evaluated
    if raw := value_type.startswith("Raw["):
        value_type = value_type.removeprefix("Raw[").removesuffix("]")
    return _Field(field.name, _CHECKS[value_type], raw, _default(field) is dataclasses.MISSING)


_KINDS = {
    _snake(kind.__name__): kind
    for kind in vars(ev).values()
    if isinstance(kind, type) and issubclass(kind, ev.ClientEvent) and kind is not ev.ClientEvent
}
_FIELDS = {
    kind: [_read_field(field) for field in dataclasses.fields(kind)]  # type: ignore[arg-type]  # a dataclass
    for kind in _KINDS.values()
}
