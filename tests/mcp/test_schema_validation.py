"""Checks of JSON values against JSON schemas."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.mcp.schema_validation import SchemaValidator

SCHEMA = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["r", "w"]},
        "filters": {
            "type": "array",
            "maxItems": 2,
            "items": {"type": "object", "properties": {"name": {"type": ["string", "null"], "minLength": 2}}},
        },
        "code": {"type": "string", "pattern": r"^\d+$"},
    },
    "required": ["size"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"size": 1, "filters": [{"name": "ab"}]}, None),
        ({}, "The value lacks size"),
        ([], "The value must be an object"),
        ({"size": "x"}, "size must be a whole number"),
        ({"size": 0}, "size must be at least 1"),
        ({"size": 1, "more": 2}, "The value must not have more"),
        ({"size": 1, "mode": "x"}, 'mode must be one of ["r", "w"]'),
        ({"size": 1, "filters": [{}, {"name": 5}]}, "filters[1].name must be text or null"),
        ({"size": 1, "filters": [{"name": ""}]}, "filters[0].name needs at least 2 characters"),
        ({"size": 1, "filters": [{}, {}, {}]}, "filters can have at most 2 items"),
        ({"size": 1, "code": "x"}, r"code must match the pattern ^\d+$"),
    ],
)
def test_the_first_fault_is_one_sentence(value: Any, sentence: str | None) -> None:
    fault = SchemaValidator(SCHEMA).fault(value)
    assert (fault.sentence if fault else None) == sentence


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^x-": {}}, "additionalProperties": False},
        {"patternProperties": {"x-a": {}}, "additionalProperties": False},
        {"allOf": [{"properties": {"x-a": {}}}], "unevaluatedProperties": False},
    ],
)
def test_only_fields_that_the_schema_does_not_allow_are_named(schema: dict[str, Any]) -> None:
    fault = SchemaValidator(schema).fault({"x-a": 1, "b": 2, "c": 3})
    assert fault is not None
    assert fault.sentence == "The value must not have b, c"


def doubling_schema() -> dict[str, Any]:
    """Return a schema whose check would take 2^60 steps."""
    parts = {f"a{step}": {"allOf": [{"$ref": f"#/$defs/a{step + 1}"}] * 2} for step in range(60)}
    return {"$defs": parts | {"a60": {"type": "string"}}, "$ref": "#/$defs/a0"}


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(10_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#"}, {}),
        ({"$ref": "#/nowhere"}, {}),
        ({"$ref": "https://example.com/schema.json"}, {}),
        ({"$schema": "https://example.com/schema.json", "$ref": "other.json"}, {}),
        ({"type": "no-such-type"}, {}),
        ({"properties": {"a": {"pattern": "("}}}, {"a": "x"}),
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 60 + "!"}),
        (doubling_schema(), "x"),
        ({"type": "string"}, deep()),
        ("no schema", {}),
        (None, {}),
    ],
)
def test_what_cannot_be_checked_is_not_refused(
    schema: Any, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib.request.urlopen", _fail)
    validator = SchemaValidator(schema)
    assert (validator.fault(value), validator.fault(value)) == (None, None)


def _fail(*_: object, **__: object) -> None:
    raise AssertionError("a reference was downloaded")
