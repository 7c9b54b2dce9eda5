"""Converts the user's entries in the fields of a form to JSON values, and JSON values to entries.

An empty optional field is left out. An empty required field has an empty list or null as its value if the
schema allows this value; otherwise the empty field is a problem.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.schema_form.fields import NO_VALUE, Field, FieldKind, Form, ValueLimits
from acp_tui.schema_form.schema_reader import resolved
from acp_tui.session.safe_text import exceeds_depth, limit_depth

if TYPE_CHECKING:
    PatternSearch = Callable[[str, str], bool | None]
"""Returns whether a pattern is found in text; None if the pattern is unusable or too slow."""

MAX_SHOWN_PATTERN = 60
"""The maximum number of characters shown of a pattern. Longer patterns are cut."""

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f<>\"{}|\\^`]+")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(
    r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
Entry = str | tuple[int, ...]
"""What the user entered: text, or the indexes of the chosen values for `choice` and `choices`."""
MAX_DIGITS = 300
"""The maximum length of a typed number. Python converts at most 4300 digits."""
MAX_NUMBER = 10**MAX_DIGITS
MAX_TEXT = 50_000
"""The maximum length of the initial text of a field. Wrapping a longer text takes noticeable time."""
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def text_problem(text: str, limits: ValueLimits, search: PatternSearch) -> str:
    """Return why the text breaks the limits; "" if no problem is found."""
    length = len(text)
    if length < limits.min_length:
        return f"At least {_count(limits.min_length, 'character')}, now {length:,}."
    if limits.max_length is not None and length > limits.max_length:
        return f"At most {_count(limits.max_length, 'character')}, now {length:,}."
    if check := _FORMATS.get(limits.format):
        is_valid, sentence = check
        if not is_valid(text):
            return sentence
    if limits.pattern and search(limits.pattern, text) is False:
        shown = limits.pattern
        shown = shown if len(shown) <= MAX_SHOWN_PATTERN else f"{shown[:MAX_SHOWN_PATTERN]}…"
        return f"Must match the pattern {shown}"
    return ""


def number_problem(number: float, limits: ValueLimits) -> str:
    """Return why a number breaks the limits; "" if it does not."""
    if limits.minimum is not None and number < limits.minimum:
        return f"Must be at least {limits.minimum}."
    if limits.maximum is not None and number > limits.maximum:
        return f"Must be at most {limits.maximum}."
    if limits.above is not None and number <= limits.above:
        return f"Must be more than {limits.above}."
    if limits.below is not None and number >= limits.below:
        return f"Must be less than {limits.below}."
    if limits.multiple_of is not None and not _is_multiple(number, limits.multiple_of):
        return f"Must be a multiple of {limits.multiple_of}."
    return ""


def items_problem(items: Sequence[Any], limits: ValueLimits) -> str:
    """Return why an array breaks the limits: too few, too many or repeated items; "" if it does not."""
    count = len(items)
    if count < limits.min_items:
        return f"At least {_count(limits.min_items, 'item')}, now {count:,}."
    if limits.max_items is not None and count > limits.max_items:
        return f"At most {_count(limits.max_items, 'item')}, now {count:,}."
    if limits.unique and len(set(items)) < count:
        return "Each item can appear only once."
    return ""


def _is_multiple(number: float, unit: float) -> bool:
    """Return True if a number is a multiple of `unit`. Tolerates rounding: 0.3 is a multiple of 0.1."""
    if isinstance(number, int) and isinstance(unit, int):
        return number % unit == 0
    try:
        quotient = number / unit
        return abs(quotient - round(quotient)) < min(0.01, 1e-9 * max(1.0, abs(quotient)))
    except OverflowError:
        return True  # too large to tell


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= (28 if month == 2 and not leap else _MONTH_DAYS[month - 1])


def _is_date_time(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t") and _TIME.fullmatch(text[11:]) is not None


_FORMATS: dict[str, tuple[Callable[[str], object], str]] = {
    "email": (_EMAIL.fullmatch, "Must be an email address."),
    "uri": (_URI.fullmatch, "Must be a URL, such as https://example.com."),
    "date": (_is_date, "Must be a date, such as 2026-01-31."),
    "date-time": (_is_date_time, "Must be a date and time with a zone, such as 2026-01-31T09:30:00Z."),
}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
    """Return the JSON value of the text.

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


MAX_PROPERTIES = 100
"""The maximum number of properties in the initial object."""


def starting_object(schema: object, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the given values, the defaults, and null for other required properties.

    Only the first `MAX_PROPERTIES` properties of the schema are considered. Very long defaults are ignored.
    Most schemas do not allow null, so the user has to replace each null.
    """
    top = (resolved(schema, schema) if isinstance(schema, dict) else None) or {}
    properties, required = top.get("properties"), top.get("required")
    found: dict[str, Any] = {}
    if isinstance(properties, dict):
        for name, property_schema in list(properties.items())[:MAX_PROPERTIES]:
            default = (
                property_schema.get("default", NO_VALUE) if isinstance(property_schema, dict) else NO_VALUE
            )
            if default is not NO_VALUE and len(json.dumps(limit_depth(default))) <= MAX_TEXT:
                found[name] = limit_depth(default)
            elif isinstance(required, list) and name in required:
                found[name] = None
    return found | dict(values)


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """The answer to a form or a web page. The actions are those of `elicitation/create` in MCP and ACP.

    Only `accept` can have content. `decline` is an explicit no. `cancel` means that no answer was given.
    """

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A mismatch between a part of a value and the schema."""

    path: tuple[str | int, ...]
    """The path to the part: keys of objects and indexes of arrays, the outermost first."""
    problem: str
    """What is wrong with the part, such as "must be a number"."""

    @property
    def sentence(self) -> str:
        """The path and the problem: "filters[0].size must be a number"."""
        return f"{path_text(self.path) or 'The value'} {self.problem}"


def path_text(path: tuple[str | int, ...]) -> str:
    """Return a path as programmers write it: `filters[0].size`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
