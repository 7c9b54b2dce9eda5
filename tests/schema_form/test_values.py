"""Values that the user enters in a form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.cpu_limit import pattern_found
from acp_tui.schema_form.fields import NO_VALUE, NotAForm
from acp_tui.schema_form.schema_reader import read_form
from acp_tui.schema_form.values import (
    EntryError,
    NotEnterable,
    entries_for,
    entry_for,
    initial_entries,
    read_value,
    read_values,
    starting_object,
)

TEXT = {"type": "string"}


def entered(schema: Any, entry: Any, *, required: bool = False) -> Any:
    """Return the value of an entry, or the problem with it."""
    field = read_form({"properties": {"it": schema}, "required": ["it"] if required else []}).fields[0]
    try:
        return read_value(field, entry, pattern_found)
    except EntryError as error:
        return str(error)


@pytest.mark.parametrize(
    ("schema", "entry", "value"),
    [
        (TEXT, " a b ", " a b "),
        (TEXT, "", NO_VALUE),
        (TEXT | {"minLength": 3}, "ab", "At least 3 characters, now 2."),
        (TEXT | {"maxLength": 1}, "ab", "At most 1 character, now 2."),
        (TEXT | {"pattern": "^[A-Z]+$"}, "ab", "Must match the pattern ^[A-Z]+$"),
        (TEXT | {"pattern": "^[A-Z]+$"}, "AB", "AB"),
        (TEXT | {"pattern": "(unclosed"}, "ab", "ab"),
        (TEXT | {"pattern": "^(a+)+$"}, "a" * 60 + "!", "a" * 60 + "!"),
        (TEXT | {"format": "email"}, "ada@example.com", "ada@example.com"),
        (TEXT | {"format": "email"}, "ada", "Must be an email address."),
        (TEXT | {"format": "uri"}, "https://example.com/a?b=c", "https://example.com/a?b=c"),
        (TEXT | {"format": "uri"}, "example.com", "Must be a URL, such as https://example.com."),
        (TEXT | {"format": "date"}, "2028-02-29", "2028-02-29"),
        (TEXT | {"format": "date"}, "2026-02-29", "Must be a date, such as 2026-01-31."),
        (TEXT | {"format": "date-time"}, "2026-01-31T09:30:00.5+02:00", "2026-01-31T09:30:00.5+02:00"),
        (
            TEXT | {"format": "date-time"},
            "2026-01-31 09:30",
            "Must be a date and time with a zone, such as 2026-01-31T09:30:00Z.",
        ),
        (TEXT | {"format": "unheard-of"}, "x", "x"),
        ({"type": "integer"}, " -12 ", -12),
        ({"type": "integer"}, "1.5", "Must be a whole number."),
        ({"type": "integer"}, "١٢", "Must be a whole number."),
        ({"type": "integer"}, "1_000", "Must be a whole number."),
        ({"type": "integer"}, "9" * 5000, "This number is too long."),
        ({"type": "integer", "minimum": 1}, "0", "Must be at least 1."),
        ({"type": "integer", "maximum": 9}, "10", "Must be at most 9."),
        ({"type": "number", "exclusiveMinimum": 0}, "0", "Must be more than 0."),
        ({"type": "number", "exclusiveMaximum": 1}, "1.0", "Must be less than 1."),
        ({"type": "number", "multipleOf": 0.1}, "0.3", 0.3),
        ({"type": "number", "multipleOf": 0.1}, "0.35", "Must be a multiple of 0.1."),
        ({"type": "number", "multipleOf": 1}, "1234567890.5", "Must be a multiple of 1."),
        ({"type": "number"}, "5", 5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "1e999", "This number is too large."),
        ({"type": "number"}, "nan", "Must be a number."),
        ({"type": "boolean"}, (1,), False),
        ({"type": "boolean"}, (), NO_VALUE),
        ({"enum": ["a", 2]}, (1,), 2),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, (0, 1), ["a", "b"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, (0, 1), "At most 1 item, now 2."),
        ({"type": "array", "items": TEXT}, "a\n\nb", ["a", "b"]),
        ({"type": "array", "items": {"type": "integer"}}, "1\nx", "Must be a whole number."),
        ({"type": "array", "items": TEXT, "uniqueItems": True}, "a\na", "Each item can appear only once."),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "object"}, "[1", "Not JSON: expecting ',' delimiter (line 1, column 3)."),
        ({}, "NaN", "Unreadable JSON: a number is NaN or too large, or the nesting is too deep."),
        ({}, "[" * 100 + "]" * 100, "The JSON is nested too deeply."),
        ({}, "[" * 100_000, "Unreadable JSON: a number is NaN or too large, or the nesting is too deep."),
    ],
)  # fmt: skip
def test_what_an_entry_means(schema: Any, entry: Any, value: Any) -> None:
    found = entered(schema, entry)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "entry", "value"),
    [
        (TEXT, "", "Required."),
        ({"type": "boolean"}, (), "Required."),
        (TEXT | {"type": ["string", "null"]}, "", None),
        ({"type": "array", "items": TEXT}, "", []),
        ({"type": "array", "items": {"enum": ["a"]}, "minItems": 1}, (), "At least 1 item, now 0."),
    ],
)
def test_an_empty_required_field(schema: Any, entry: Any, value: Any) -> None:
    assert entered(schema, entry, required=True) == value


def test_given_values_come_before_defaults_that_fit() -> None:
    properties = {
        "a": {"type": "string", "default": "x"},
        "b": {"type": "integer", "default": "wrong"},
        "c": {"type": "boolean", "default": True},
        "d": {"type": "string", "default": "y"},
    }
    form = read_form({"properties": properties})
    assert initial_entries(form, {"d": "mine"}) == {"a": "x", "b": "", "c": (0,), "d": "mine"}


def test_a_required_constant_is_chosen() -> None:
    form = read_form({"properties": {"a": {"const": "x"}}, "required": ["a"]})
    assert initial_entries(form, {}) == {"a": (0,)}


@pytest.mark.parametrize(
    "value", [{"other": 1}, {"it": 5}, {"it": ["a\nb"]}, {"it": [""]}, {"it": []}, {"it": None}, {"it": [1]}]
)
def test_objects_that_the_fields_cannot_show(value: Any) -> None:
    form = read_form({"properties": {"it": {"type": "array", "items": TEXT}}})
    with pytest.raises(NotEnterable, match=r"\.$"):
        entries_for(form, value)


def test_true_is_not_one() -> None:
    field = read_form({"properties": {"it": {"enum": [1, True]}}}).fields[0]
    assert (entry_for(field, 1), entry_for(field, True)) == ((0,), (1,))


# --------------------------------------------------------------------------- properties

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**40) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
keywords = st.sampled_from(
    ["type", "enum", "const", "oneOf", "anyOf", "allOf", "items", "default", "title", "minLength", "maximum",
     "multipleOf", "minItems", "uniqueItems", "$ref", "enumNames", "format"]
)  # fmt: skip
types = st.sampled_from(
    ["string", "integer", "number", "boolean", "array", "object", "null", "#", "#/properties/a"]
)
schemas = st.recursive(
    st.dictionaries(keywords, types | json_values, max_size=3),
    lambda inner: st.dictionaries(keywords, inner | types | st.lists(inner, max_size=3), max_size=4),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("ab"), schemas), st.dictionaries(st.sampled_from("abc"), json_values))
def test_no_schema_and_no_value_fails(properties: dict[str, Any], content: dict[str, Any]) -> None:
    try:
        form = read_form({"properties": properties, "required": ["a"]})
    except NotAForm:
        return
    values = read_values(form, initial_entries(form, content), pattern_found)
    assert set(values.content).isdisjoint(values.problems)
    json.dumps(values.content)


@given(st.dictionaries(st.sampled_from("ab"), schemas), st.dictionaries(st.sampled_from("abc"), json_values))
def test_what_the_fields_show_is_what_they_send(properties: dict[str, Any], content: dict[str, Any]) -> None:
    try:
        form = read_form({"properties": properties})
        entries = entries_for(form, content)
    except (NotAForm, NotEnterable):
        return
    values = read_values(form, entries, pattern_found)
    assert values.problems or values.content == content


def test_json_starts_with_values_defaults_and_null_for_what_is_missing() -> None:
    properties = {"a": {"default": 1}, "b": {}, "c": {"default": "x" * 60_000}, "d": {"type": "string"}}
    schema = {"properties": properties, "required": ["b", "d"]}
    assert starting_object(schema, {"d": "mine"}) == {"a": 1, "b": None, "d": "mine"}
    assert starting_object("no schema", {}) == {}


def test_a_default_that_is_too_long_to_edit_is_left_out() -> None:
    form = read_form({"properties": {"a": {"type": "string", "default": "x" * 60_000}}})
    assert initial_entries(form, {}) == {"a": ""}
