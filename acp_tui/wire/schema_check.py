"""Checks an agent's messages against the protocol's schemas, `acp-schema-v1.json` and `acp-schema-v2.json`.

A general validator says of a union only that no member matches, and stops at fields that a lenient reader
accepts. This one picks the member that is meant and names every wrong field, with what it must be.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acp_tui.protocol.json_rpc import SHORTENED
from acp_tui.session.safe_text import visible_excerpt

if TYPE_CHECKING:
    Schema = dict[str, Any]

Version = Literal[1, 2]
"""The version of the protocol, each of which has a schema."""
VERSIONS: dict[str, Version] = {"v1": 1, "v2": 2}
"""The versions by the dialects of a session. The 0.1.0 draft has no schema."""
_VERSION_2 = "2:"
"""What the names of definitions begin with where the schema of version 2 refers to its own."""
UNSTABLE_UPDATES = frozenset({"subagent_update", "state_update", "session_message", "session_message_chunk"})
"""Kinds of updates about subagents, from the unstable schema. They are not checked."""
MAX_EXAMPLE_CHARACTERS = 200
MAX_LISTED_VALUES = 12
"""If a field may have more values than this, a sentence names only the nearest one."""


Place = tuple[str | int, ...]
"""Where a value is in a message: the names of fields and the positions in lists that lead to it."""
Sender = Literal["agent", "client"]


@dataclass(slots=True)
class SchemaViolation:
    check: str
    sentence: str
    example: str | None = None
    place: Place = ()
    """The field that is wrong or missing; empty if it is the whole message."""


class Fault(NamedTuple):
    """A wrong value: where it is, the end of a sentence about it, and the value."""

    place: Place
    predicate: str
    value: Any = None

    @property
    def path(self) -> str:
        """The place without positions in lists, such as `content[].text`."""
        return "".join("[]" if isinstance(step, int) else f".{step}" for step in self.place).removeprefix(".")


@cache
def definitions(version: Version = 1) -> dict[str, Schema]:
    """Return the definitions of a version's schema, by name."""
    text = Path(__file__).with_name(f"acp-schema-v{version}.json").read_text(encoding="utf-8")
    if version == 2:
        text = text.replace('"#/$defs/', f'"#/$defs/{_VERSION_2}')
    found: dict[str, Schema] = json.loads(text)["$defs"]
    return found


def referenced(schema: Schema) -> Schema:
    """Return the definition to which the `$ref` of a schema refers."""
    name: str = schema["$ref"].rpartition("/")[2]
    if name.startswith(_VERSION_2):
        return definitions(2)[name.removeprefix(_VERSION_2)]
    return definitions()[name]


@cache
def _models(sender: Sender, version: Version) -> tuple[dict[str, Schema], dict[str, Schema]]:
    """Return the schemas of what one side sends, by method: one dict for parameters, one for results."""
    calls: dict[str, Schema] = {}
    answers: dict[str, Schema] = {}
    for name, schema in definitions(version).items():
        side, is_answer = schema.get("x-side"), name.endswith("Response")
        if side not in ("agent", "client"):
            continue
        if is_answer and side == sender:
            answers[schema["x-method"]] = schema
        elif not is_answer and side != sender:
            calls[schema["x-method"]] = schema
    return calls, answers


def schema_violations(
    frame: Any, methods: dict[object, str], version: Version = 1
) -> Iterator[SchemaViolation]:
    """Yield the violations in one received frame, which may be a batch in version 2.

    `methods` contains the methods of the client's pending requests by id; an answered request is removed.
    """
    if version == 2 and isinstance(frame, list):
        for item in frame:
            yield from schema_violations(item, methods, version)
        return
    answered = None
    if isinstance(frame, dict) and not isinstance(frame.get("method"), str):
        identity = frame.get("id")
        answered = methods.pop(identity, None) if isinstance(identity, (int, str)) else None
    yield from frame_violations(frame, answered, version=version)


def frame_violations(
    frame: Any, answered: str | None, sender: Sender = "agent", version: Version = 1
) -> Iterator[SchemaViolation]:
    """Yield the violations in one frame. `answered` is the method that it answers, None if unknown.

    A frame of which only the beginning was recorded is not checked.
    """
    if not isinstance(frame, dict):
        return
    if SHORTENED in frame:
        return
    calls, answers = _models(sender, version)
    if frame.get("jsonrpc") != "2.0":
        place = ("jsonrpc",) if "jsonrpc" in frame else ()
        yield SchemaViolation("schema:envelope", 'a message is missing "jsonrpc": "2.0"', place=place)
    method = frame.get("method")
    if isinstance(method, str):
        params = frame.get("params")
        kind = _update_kind(params)
        if (version == 2 or kind not in UNSTABLE_UPDATES) and (schema := calls.get(method)) is not None:
            yield from _violations(schema, method, params, f"{method} {kind}" if kind else method)
        return
    if answered is None:
        return
    if "error" in frame:
        yield from _error_violations(answered, frame["error"])
    elif (schema := answers.get(answered)) is not None:
        result = frame.get("result")
        if result is not None:
            yield from _violations(schema, answered, result, f"{answered} answer")
        elif schema.get("required"):
            yield SchemaViolation(
                f"schema:{answered}",
                f"the answer to {answered} is null instead of an object",
                place=("result",),
            )


def _update_kind(params: Any) -> str | None:
    """Return the kind of a `session/update`; None if the kind is not a string, and for other messages."""
    update = params.get("update") if isinstance(params, dict) else None
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    return kind if isinstance(kind, str) else None


def _error_violations(method: str, error: Any) -> Iterator[SchemaViolation]:
    if not isinstance(error, dict):
        yield SchemaViolation(
            "schema:error",
            f"the error in an answer to {method} is not an object",
            _example(error),
            ("error",),
        )
    elif not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
        yield SchemaViolation(
            "schema:error",
            f"the error in an answer to {method} must have a number as code and a string as message",
            place=("error",),
        )


def _violations(schema: Schema, method: str, value: Any, where: str) -> Iterator[SchemaViolation]:
    field, whole = ("result", "the result") if where.endswith(" answer") else ("params", "params")
    for fault in faults_of(schema, value):
        sentence = f"{where}: {fault.path or whole} {fault.predicate}"
        yield SchemaViolation(f"schema:{method}", sentence, _example(fault.value), (field, *fault.place))


def _example(value: Any) -> str | None:
    if value is None:
        return None
    return (
        value[:MAX_EXAMPLE_CHARACTERS]
        if isinstance(value, str)
        else visible_excerpt(value, MAX_EXAMPLE_CHARACTERS)
    )


# --------------------------------------------------------------------------- values

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_TYPE_WORDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


def faults_of(schema: Schema, value: Any, place: Place = ()) -> list[Fault]:
    """Return everything in a value that the schema does not allow.

    Nulls in optional fields and whatever is in `_meta` are allowed.
    """
    parts, faults = _resolve(schema, value, place)
    if faults:
        return faults
    for part in parts:
        if (predicate := _simple_fault(part, value)) is not None:
            return [Fault(place, predicate, value)]
    if isinstance(value, dict):
        return _object_faults(parts, value, place)
    if isinstance(value, list):
        items = next((part["items"] for part in parts if "items" in part), None)
        return (
            []
            if items is None
            else [
                fault
                for position, item in enumerate(value)
                for fault in faults_of(items, item, (*place, position))
            ]
        )
    return []


def _object_faults(parts: Sequence[Schema], value: dict[str, Any], place: Place) -> list[Fault]:
    properties = {name: schema for part in parts for name, schema in part.get("properties", {}).items()}
    required = [name for part in parts for name in part.get("required", ())]
    is_open = not properties or any(part.get("additionalProperties") for part in parts)
    faults = [Fault((*place, name), "is missing") for name in required if name not in value]
    for name, content in value.items():
        if name == "_meta" or (content is None and name not in required):
            continue
        if name in properties:
            faults += faults_of(properties[name], content, (*place, name))
        elif not is_open:
            faults.append(Fault((*place, name), "is not in the schema", content))
    return faults


def _simple_fault(part: Schema, value: Any) -> str | None:
    """Return what a value must be, apart from its fields and items; None if it is."""
    types = part.get("type", [])
    names = [types] if isinstance(types, str) else types
    if names and not any(_is(value, name) for name in names):
        return f"must be {' or '.join(_TYPE_WORDS[name] for name in names if name != 'null')}"
    allowed = [part["const"]] if "const" in part else part.get("enum")
    if allowed is not None and value not in allowed:
        return _must_be_one_of(allowed, value)
    if isinstance(value, (int, float)) and value < part.get("minimum", value):
        return "is too small"
    if isinstance(value, (int, float)) and value > part.get("maximum", value):
        return "is too large"
    if isinstance(value, str) and len(value) < part.get("minLength", 0):
        return "is too short"
    return None


def _is(value: Any, type_name: str) -> bool:
    if isinstance(value, bool):
        return type_name == "boolean"
    is_whole = isinstance(value, float) and value.is_integer()
    return isinstance(value, _TYPES[type_name]) or (type_name == "integer" and is_whole)


def _must_be_one_of(allowed: Sequence[Any], value: Any) -> str:
    names = [str(name) for name in allowed]
    if len(names) <= MAX_LISTED_VALUES:
        return f"must be {names[0]}" if len(names) == 1 else f"must be one of: {', '.join(names)}"
    near = difflib.get_close_matches(str(value), names, 1)
    return f"is unknown; did you mean {near[0]}?" if near else "is unknown"


# --------------------------------------------------------------------------- unions


def _resolve(schema: Schema, value: Any, place: Place) -> tuple[list[Schema], list[Fault]]:
    """Return the schemas without references and unions that apply to a value, and faults of its union."""
    parts: list[Schema] = [schema]
    faults: list[Fault] = []
    inner: list[Schema] = [*schema.get("allOf", ())]
    if "$ref" in schema:
        inner.append(referenced(schema))
    for key in ("oneOf", "anyOf"):
        if key in schema:
            chosen = _choose(schema[key], value, place)
            if isinstance(chosen, Fault):
                faults.append(chosen)
            else:
                inner.append(chosen)
    for one in inner:
        more, wrong = _resolve(one, value, place)
        parts += more
        faults += wrong
    return parts, faults


def _choose(members: Sequence[Schema], value: Any, place: Place) -> Schema | Fault:
    """Return the member of a union that a value is meant to be, or a fault if it is none of them."""
    named = [member for member in members if member.get("type") != "null"]
    if value is None and len(named) < len(members):
        return {}
    if len(named) == 1:
        return named[0]
    if all("const" in member for member in named):
        allowed = [member["const"] for member in named]
        return {} if value in allowed else Fault(place, _must_be_one_of(allowed, value), value)
    if isinstance(value, dict) and (tag := _tag_of(named)) is not None:
        tagged = {_constants(member)[tag]: member for member in named if tag in _constants(member)}
        chosen = tagged.get(value[tag]) if isinstance(value.get(tag), str) else None
        rest = [member for member in named if tag not in _constants(member)]
        if chosen is not None:
            return chosen
        if not rest:
            if tag not in value:
                return Fault((*place, tag), "is missing")
            return Fault((*place, tag), _must_be_one_of([*tagged], value[tag]), value[tag])
        named = [member for member in rest if set(member.get("required", ())) <= value.keys()] or rest
    return min(named, key=lambda member: _distance(member, value))


def _tag_of(members: Sequence[Schema]) -> str | None:
    """Return the field whose constant value tells the members of a union apart; None if there is none."""
    return next((name for member in members for name in _constants(member)), None)


def _constants(member: Schema) -> dict[str, Any]:
    """Return the fields of a member of a union that can have one value only."""
    found = {name: field["const"] for name, field in member.get("properties", {}).items() if "const" in field}
    if not found and "$ref" in member:
        return _constants(referenced(member))
    return found


def _distance(member: Schema, value: Any) -> int:
    """Return how many faults a value has as this member of a union; many if it has the wrong type."""
    faults = faults_of(member, value)
    return sum(1000 if not fault.place else 1 for fault in faults)
