"""Converts the user's entries in the fields of a form to JSON values, and JSON values to entries.

An empty optional field is left out. An empty required field has an empty list or null as its value if the
schema allows this value; otherwise the empty field is a problem.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.schema_form.fields import NO_VALUE
from acp_tui.schema_form.rules import items_problem, number_problem, text_problem
from acp_tui.session.json_depth import exceeds_depth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.schema_form.fields import Field, FieldKind, Form
    from acp_tui.schema_form.rules import PatternSearch

Entry = str | tuple[int, ...]
"""What the user entered: a text, or the indexes of the chosen values for `choice` and `choices`."""

MAX_DIGITS = 300
"""The maximum length of a typed number. Python converts at most 4300 digits."""
MAX_NUMBER = 10**MAX_DIGITS
MAX_TEXT = 50_000
"""The maximum length of the initial text of a field. Wrapping a longer text takes noticeable time."""

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class EntryError(Exception):
    """An entry that is not a valid value. The message is one sentence for the user."""


class NotEnterable(Exception):  # noqa: N818  # such values are edited as JSON
    """A value that the fields of the form cannot show. The message is one sentence for the user."""


@dataclass(slots=True)
class FormValues:
    """The object that the fields produce, and the problem of each invalid field, by the field's name."""

    content: dict[str, Any] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def read_values(form: Form, entries: Mapping[str, Entry], search: PatternSearch) -> FormValues:
    """Convert the user's entries to an object. Fields with a problem are left out of the object."""
    values = FormValues()
    for one in form.fields:
        try:
            value = read_value(one, entries[one.name], search)
        except EntryError as error:
            values.problems[one.name] = str(error)
        else:
            if value is not NO_VALUE:
                values.content[one.name] = value
    return values


def read_value(field: Field, entry: Entry, search: PatternSearch) -> Any:
    """Return the value of a field, or NO_VALUE if the field is left out.

    Raises:
        EntryError: if the value is not valid.
    """
    if not entry and not field.required:
        return NO_VALUE
    if not entry and field.nullable:
        return None
    if not entry and field.kind not in ("choices", "list"):
        raise EntryError("Required.")
    if not isinstance(entry, str):
        chosen = [field.choices[index].value for index in entry]
        if field.kind == "choice":
            return chosen[0]
        _raise_problem(items_problem(entry, field.limits))
        return chosen
    if field.kind == "list":
        items = [_scalar(field.item_kind, line, field, search) for line in entry.split("\n") if line]
        _raise_problem(items_problem(items, field.limits))
        return items
    if field.kind == "json":
        return read_json(entry)
    return _scalar(field.kind, entry, field, search)


def _scalar(kind: FieldKind, text: str, field: Field, search: PatternSearch) -> Any:
    """Parse the text as a value of this kind. Raises `EntryError` if the field does not accept the value."""
    if kind == "text":
        _raise_problem(text_problem(text, field.limits, search))
        return text
    number = _integer(text.strip()) if kind == "integer" else _number(text.strip())
    _raise_problem(number_problem(number, field.limits))
    return number


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise EntryError("Must be a whole number.")
    if len(text) > MAX_DIGITS:
        raise EntryError("This number is too long.")
    return int(text)


def _number(text: str) -> float:
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if not _NUMBER.fullmatch(text):
        raise EntryError("Must be a number.")
    number = float(text) if len(text) <= MAX_DIGITS else math.inf
    if not math.isfinite(number):
        raise EntryError("This number is too large.")
    return number


def read_json(text: str) -> Any:
    """Return the JSON value of a text.

    Raises:
        EntryError: if the text is not JSON, is nested too deeply, or contains a number that is too long.
    """
    try:
        value = json.loads(text, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise EntryError(f"Not JSON: {error.msg[:1].lower()}{error.msg[1:]} ({where}).") from None
    except (ValueError, RecursionError):
        raise EntryError(
            "Unreadable JSON: a number is NaN or too large, or the nesting is too deep."
        ) from None
    if exceeds_depth(value):
        raise EntryError("The JSON is nested too deeply.")
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are not JSON


def _raise_problem(problem: str) -> None:
    if problem:
        raise EntryError(problem)


# --------------------------------------------------------------------------- values into entries


def initial_entries(form: Form, values: Mapping[str, Any]) -> dict[str, Entry]:
    """Return the initial entries of all fields: from `values` or, for missing values, from the defaults.

    If a field cannot show its value or default, the value or default is ignored.
    """
    entries = {}
    for one in form.fields:
        try:
            entries[one.name] = entry_for(one, values.get(one.name, one.default))
        except NotEnterable:
            entries[one.name] = entry_for(one, NO_VALUE)
    return entries


def entries_for(form: Form, content: Mapping[str, Any]) -> dict[str, Entry]:
    """Return the entries that show an object.

    Raises:
        NotEnterable: if the fields cannot show the whole object.
    """
    names = {one.name for one in form.fields}
    if unknown := next((name for name in content if name not in names), None):
        raise NotEnterable(f"There is no field for {unknown}.")
    return {one.name: entry_for(one, content.get(one.name, NO_VALUE)) for one in form.fields}


def entry_for(field: Field, value: Any) -> Entry:
    """Return the entry that shows a value in a field.

    Raises:
        NotEnterable: if the field cannot show this value.
    """
    entry = _entry_for(field, value, NotEnterable(f"The field {field.label} cannot show this value."))
    if isinstance(entry, str) and len(entry) > MAX_TEXT:
        raise NotEnterable(f"The text of {field.label} is too long for a field.")
    return entry


def _entry_for(field: Field, value: Any, problem: NotEnterable) -> Entry:
    if value is NO_VALUE:
        only_one = field.kind == "choice" and field.required and len(field.choices) == 1
        return (0,) if only_one else () if field.choices else ""
    if value is None and field.nullable and field.required:
        return () if field.choices else ""
    if value in ("", []) and not field.required:
        raise problem  # an empty field would be read as no value
    if field.kind == "choice":
        return (_index(field, value, problem),)
    if field.kind == "json":
        if exceeds_depth(value):
            raise problem
        return json.dumps(value, ensure_ascii=False)
    if field.kind not in ("choices", "list"):
        return _scalar_text(field.kind, value, problem)
    if not isinstance(value, list):
        raise problem
    if field.kind == "choices":
        indexes = tuple(_index(field, item, problem) for item in value)
        if list(indexes) != sorted(set(indexes)):
            raise problem
        return indexes
    lines = [_scalar_text(field.item_kind, item, problem) for item in value]
    if any(not line or "\n" in line for line in lines):
        raise problem
    return "\n".join(lines)


def _index(field: Field, value: Any, problem: NotEnterable) -> int:
    for index, choice in enumerate(field.choices):
        if choice.value == value and isinstance(choice.value, bool) == isinstance(value, bool):
            return index
    raise problem


def _scalar_text(kind: FieldKind, value: Any, problem: NotEnterable) -> str:
    """Return a text or number as text. Raise `problem` if the value is not of this kind or too large."""
    if kind == "text":
        if isinstance(value, str):
            return value
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER:
        if kind == "number":
            return str(value)
        if value == int(value):
            return str(int(value))
    raise problem
