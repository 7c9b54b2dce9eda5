"""Reads a JSON schema as a form.

Lenient: wrong keywords are ignored, and unusual properties become fields that are edited as JSON.
"""

from __future__ import annotations

import json
import math
from collections import deque
from typing import Any

from acp_tui.schema_form.fields import NO_VALUE, Field, FieldChoice, FieldKind, Form, NotAForm, ValueLimits
from acp_tui.session.safe_text import exceeds_depth

MAX_HOPS = 16
"""The maximum number of references that are followed in a row. A longer chain may be a cycle."""

MAX_PARTS = 20_000
"""The maximum number of values in a schema that are searched for an anchor."""

Schema = dict[str, Any]
MAX_FIELDS = 100
"""The maximum number of fields. An object with more properties is edited as JSON."""
MAX_CHOICES = 1000
"""The maximum number of values to choose from. If there are more, the user types the value."""
MAX_ANY_OF = 8
"""An `anyOf` or `oneOf` with more alternatives than this is not searched for null."""
YES_OR_NO = (FieldChoice(True, "Yes"), FieldChoice(False, "No"))
_UNUSUAL = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "not"), "combines several schemas"),
    **dict.fromkeys(
        ("if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"),
        "has fields that depend on other fields",
    ),
    **dict.fromkeys(("patternProperties", "propertyNames"), "lets you choose the names of the fields"),
}
"""For each keyword that a form cannot show, how the error message continues after "its schema"."""
_SCALARS: dict[str, FieldKind] = {"string": "text", "integer": "integer", "number": "number"}
"""Kinds of fields by the `type` in the schema."""


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


def read_form(schema: object) -> Form:
    """Return the form for an object that matches a schema.

    Raises:
        NotAForm: if the object has to be edited as JSON.
    """
    if not isinstance(schema, dict):
        raise NotAForm("its schema is not an object")
    if exceeds_depth(schema):
        raise NotAForm("its schema is nested too deeply")
    top = resolved(schema, schema)
    if top is None:
        raise NotAForm("its schema has a reference that cannot be followed")
    if found := next((keyword for keyword in _UNUSUAL if top.get(keyword)), None):
        raise NotAForm(f"its schema {_UNUSUAL[found]}")
    if top.get("type", "object") not in ("object", ["object"], ["object", "null"], ["null", "object"]):
        raise NotAForm("its schema does not describe an object")
    properties = top.get("properties")
    if not isinstance(properties, dict):
        properties = {}
    required = [name for name in _list(top.get("required")) if isinstance(name, str)]
    if not properties and (top.get("additionalProperties") or required):
        raise NotAForm("its schema does not describe the fields")
    names = dict.fromkeys([*properties, *required])
    if len(names) > MAX_FIELDS:
        raise NotAForm(f"its schema has {len(names):,} fields")
    wanted = frozenset(required)
    return Form(
        tuple(_field(name, properties.get(name), schema, required=name in wanted) for name in names),
        _text(top.get("title")),
        _text(top.get("description")),
    )


def _field(name: str, schema: object, root: Schema, *, required: bool) -> Field:
    """Return the field for a property."""
    own = resolved(schema, root)
    nullable = False
    if own is not None:
        own, nullable = _without_null(own, root)
    if own is None:
        beside = schema if isinstance(schema, dict) else {}
        return Field(
            name, "json", _text(beside.get("title")), _text(beside.get("description")), required, nullable
        )
    choices, with_null = _choices(own)
    kind: FieldKind
    item_kind: FieldKind = "text"
    limits = _limits(own)
    if own.get("type") == "array":
        kind, item_kind, choices, limits = _array(own, root, limits)
    elif choices:
        kind = "choice"
    elif own.get("type") == "boolean":
        kind, choices = "choice", YES_OR_NO
    else:
        kind = _kind(own)
    return Field(
        name,
        kind,
        _text(own.get("title")),
        _text(own.get("description")),
        required,
        nullable or with_null,
        own.get("default", NO_VALUE),
        choices,
        limits,
        item_kind,
    )


def _without_null(schema: Schema, root: Schema) -> tuple[Schema | None, bool]:
    """Remove the type null from a schema. Return the resulting schema, and whether null was removed.

    Null is removed from `type`, and from `anyOf` or `oneOf` if there is only one alternative besides null.
    This alternative is merged into the schema. The result is None if the alternative cannot be resolved.
    """
    types = schema.get("type")
    if isinstance(types, list):
        others = [one for one in types if one != "null"]
        if others == ["integer", "number"] or others == ["number", "integer"]:
            others = ["number"]
        return schema | {"type": others[0] if len(others) == 1 else others}, len(others) < len(types)
    for keyword in ("anyOf", "oneOf"):
        parts = _list(schema.get(keyword))
        if not 0 < len(parts) <= MAX_ANY_OF:
            continue
        others = [part for part in parts if not (isinstance(part, dict) and part.get("type") == "null")]
        if len(others) == 1:
            only = resolved(others[0], root)
            beside = {key: value for key, value in schema.items() if key != keyword}
            return None if only is None else only | beside, len(parts) > 1
    return schema, False


def _array(
    schema: Schema, root: Schema, limits: ValueLimits
) -> tuple[FieldKind, FieldKind, tuple[FieldChoice, ...], ValueLimits]:
    """Return four values for an array: its field's kind, its items' kind, the choices, and the limits."""
    items = resolved(schema.get("items"), root)
    if items is None or "prefixItems" in schema or "contains" in schema:
        return "json", "text", (), limits
    choices, with_null = _choices(items)
    if choices and not with_null:
        return "choices", "text", choices, limits
    kind = _kind(items)
    if kind == "json" or choices or with_null:
        return "json", "text", (), limits
    return "list", kind, (), _limits(items, array=schema)


def _kind(schema: Schema) -> FieldKind:
    """Return the kind of a field or of an array item, leaving its choices aside."""
    unusual = any(schema.get(keyword) for keyword in ("anyOf", "oneOf", "not", "if"))
    named = schema.get("type")
    if unusual or not isinstance(named, str):
        return "json"
    return _SCALARS.get(named, "json")


# --------------------------------------------------------------------------- choices


def _choices(schema: Schema) -> tuple[tuple[FieldChoice, ...], bool]:
    """Return the non-null choices in `const`, `enum`, `oneOf` or `anyOf`, and whether null is a choice."""
    values, parts = _list(schema.get("enum")), _list(schema.get("oneOf")) or _list(schema.get("anyOf"))
    if max(len(values), len(parts)) > MAX_CHOICES:
        return (), False
    if "const" in schema:
        found = [_choice(schema["const"])]
    elif values:
        titles = _list(schema.get("enumNames"))
        titles = titles if len(titles) == len(values) else [""] * len(values)
        found = [_choice(value, title) for value, title in zip(values, titles, strict=True)]
    elif all(isinstance(part, dict) and "const" in part for part in parts):
        found = [_choice(part["const"], part.get("title"), part.get("description")) for part in parts]
    else:
        return (), False
    if any(isinstance(choice.value, list | dict) for choice in found):
        return (), False
    kept = tuple(choice for choice in found if choice.value is not None)
    return kept, len(kept) < len(found)


def _choice(value: object, title: object = "", description: object = "") -> FieldChoice:
    shown = value if isinstance(value, str) else json.dumps(value)
    return FieldChoice(value, _text(title) or shown, _text(description))


# --------------------------------------------------------------------------- limits


def _limits(schema: Schema, array: Schema | None = None) -> ValueLimits:
    """Return the limits in a schema. `array` is the schema of the list whose items `schema` describes."""
    outer = schema if array is None else array
    minimum, above = _bound(schema, "minimum", "exclusiveMinimum")
    maximum, below = _bound(schema, "maximum", "exclusiveMaximum")
    multiple = _number(schema.get("multipleOf"))
    return ValueLimits(
        min_length=_count(schema.get("minLength")) or 0,
        max_length=_count(schema.get("maxLength")),
        pattern=_text(schema.get("pattern")),
        format=_text(schema.get("format")),
        minimum=minimum,
        maximum=maximum,
        above=above,
        below=below,
        multiple_of=multiple if multiple is not None and multiple > 0 else None,
        min_items=_count(outer.get("minItems")) or 0,
        max_items=_count(outer.get("maxItems")),
        unique=outer.get("uniqueItems") is True,
    )


def _bound(schema: Schema, name: str, exclusive: str) -> tuple[float | None, float | None]:
    """Return the inclusive and the exclusive bound in a schema; None for a missing bound.

    `name` and `exclusive` are the keywords of the bounds, such as `minimum` and `exclusiveMinimum`. In draft
    4 of JSON Schema, `exclusiveMinimum` is a boolean: true means that the value of `minimum` is an exclusive
    bound.
    """
    bound, other = _number(schema.get(name)), schema.get(exclusive)
    return (None, bound) if other is True else (bound, _number(other))


def _number(value: Any) -> float | None:
    """Return `value` if it is a finite number, else None. Integers stay integers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number >= 0 else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
