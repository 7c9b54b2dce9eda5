"""JSON schemas read as forms."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.schema_form.fields import Field, NotAForm, asks_for_secret, expectation
from acp_tui.schema_form.schema_reader import MAX_CHOICES, MAX_FIELDS, read_form


def field_of(schema: Any, **more: Any) -> Field:
    """Return the field for one property."""
    return read_form({"type": "object", "properties": {"it": schema}, **more}).fields[0]


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": ["integer", "number"]}, "number"),
        ({"type": "boolean"}, "choice"),
        ({"enum": ["a", 1, True]}, "choice"),
        ({"const": "a"}, "choice"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "choice"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "choices"),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, "choices"),
        ({"type": "array", "items": {"type": "string"}}, "list"),
        ({"type": "array", "items": {"type": "integer"}}, "list"),
        ({"type": "array"}, "json"),
        ({"type": "array", "items": {"type": "object"}}, "json"),
        ({"type": "object"}, "json"),
        ({"type": ["string", "integer"]}, "json"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "json"),
        ({"enum": [["a"], {"b": 1}]}, "json"),
        ({"type": "string", "enum": [str(number) for number in range(MAX_CHOICES + 1)]}, "text"),
        ({"$ref": "#/$defs/Loop"}, "json"),
        ({"$ref": "https://example.com/schema.json"}, "json"),
        ({}, "json"),
        (True, "json"),
        ("nonsense", "json"),
        ({"type": {}}, "json"),
    ],
)
def test_kind_of_a_field(schema: Any, kind: str) -> None:
    assert field_of(schema, **{"$defs": {"Loop": {"$ref": "#/$defs/Loop"}}}).kind == kind


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/Text"}]},
    ],
)
def test_null_is_a_union(schema: Any) -> None:
    field = field_of(schema, **{"$defs": {"Text": {"type": "string"}}})
    assert (field.kind, field.nullable) == ("text", True)


@pytest.mark.parametrize("anchor", [{"$anchor": "colour"}, {"$id": "#colour"}])
def test_a_reference_to_an_anchor_is_followed(anchor: dict[str, str]) -> None:
    defs = {"$defs": {"any": {"enum": ["red", "blue"], **anchor}}}
    field = field_of({"$ref": "#colour"}, **defs)
    assert [choice.value for choice in field.choices] == ["red", "blue"]
    assert field_of({"$ref": "#other"}, **defs).kind == "json"


def test_references_and_what_stands_beside_them() -> None:
    colours = {"Colour": {"title": "Colour", "enum": ["red", None]}}
    field = field_of({"allOf": [{"$ref": "#/$defs/Colour"}], "default": "red"}, **{"$defs": colours})
    assert [choice.value for choice in field.choices] == ["red"]
    assert (field.title, field.default, field.nullable) == ("Colour", "red", True)


def test_titles_of_choices() -> None:
    field = field_of({"enum": ["a", 2], "enumNames": ["First", "Second"]})
    assert [choice.title for choice in field.choices] == ["First", "Second"]
    assert [choice.title for choice in field_of({"enum": ["a", 2]}).choices] == ["a", "2"]


def test_order_and_required_fields() -> None:
    properties = {"z": {"type": "string"}, "a": {"type": "string"}}
    form = read_form({"properties": properties, "required": ["a", "extra", 7]})
    assert [(field.name, field.required) for field in form.fields] == [
        ("z", False),
        ("a", True),
        ("extra", True),
    ]


def test_wrong_limits_are_ignored() -> None:
    field = field_of({"type": "string", "minLength": "x", "maxLength": -1, "pattern": 3, "minimum": True})
    assert field.limits == field_of({"type": "string"}).limits


def test_exclusive_limits_of_draft_4() -> None:
    limits = field_of({"type": "number", "minimum": 1, "exclusiveMinimum": True, "maximum": 9}).limits
    assert (limits.minimum, limits.above, limits.maximum) == (None, 1, 9)


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"properties": {}, "additionalProperties": False}]
)
def test_a_form_without_fields(schema: Any) -> None:
    assert read_form(schema).fields == ()


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"type": "array"},
        {"type": "object", "additionalProperties": True},
        {"oneOf": [{"properties": {"a": {}}}]},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "properties": {"a": {}}},
        {"patternProperties": {"^x": {}}},
        {"$ref": "#"},
        {"properties": {str(number): {} for number in range(MAX_FIELDS + 1)}},
        {"required": [str(number) for number in range(MAX_FIELDS + 1)], "properties": {"a": {}}},
        nested(70),
    ],
)
def test_unusual_schemas_are_edited_as_json(schema: Any) -> None:
    with pytest.raises(NotAForm, match=r"^its schema "):
        read_form(schema)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 40}, "2 to 40 characters"),
        ({"type": "string", "format": "email"}, "email address"),
        ({"type": "integer", "minimum": 1, "maximum": 10}, "whole number, 1 to 10"),
        ({"type": "number", "exclusiveMinimum": 0}, "number, more than 0"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, "one per line, up to 3 items"),
        ({"type": "string"}, ""),
    ],
)
def test_what_a_field_expects(schema: Any, words: str) -> None:
    assert expectation(field_of(schema)) == words


@pytest.mark.parametrize(
    ("name", "secret"),
    [("password", True), ("apiKey", True), ("GITHUB_TOKEN", True), ("maxTokens", False), ("shipping", False)],
)
def test_names_of_secrets(name: str, *, secret: bool) -> None:
    field = read_form({"properties": {name: {"type": "string"}}}).fields[0]
    assert asks_for_secret(field) == secret


def test_secrets_in_a_description() -> None:
    assert asks_for_secret(field_of({"type": "string", "description": "Enter your password, please"}))
    assert asks_for_secret(field_of({"type": "string", "format": "password"}))
