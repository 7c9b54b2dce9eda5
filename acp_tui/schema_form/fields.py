"""The fields of a form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

FieldKind = Literal["text", "integer", "number", "choice", "choices", "list", "json"]
"""How a field is filled in.

`choice` is one of several values, also for booleans. `choices` is an array with any of several values.
`list` is an array of texts or numbers, one per line. `json` is every other value.
"""
_KINDS = {"integer": "whole number", "number": "number", "json": "JSON", "choices": "any of these"}
_ITEMS = {"text": "", "integer": "whole numbers", "number": "numbers"}
_FORMATS = {
    "email": "email address",
    "uri": "URL",
    "date": "date, such as 2026-01-31",
    "date-time": "date and time",
}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET_NAMES = re.compile(
    r"\b(password|passwd|passphrase|passcode|secrets?|credentials?|[a-z]*token|pin|cvv"
    r"|(api|access|private) ?key)\b"
)
_SECRET_PROSE = re.compile(r"\b(password|passphrase|passcode|(api|access|private) ?key|access token)\b")
MAX_SEARCHED = 2_000
"""How many characters of a description are searched for words such as "password"."""


class Missing(Enum):
    """The type of `NO_VALUE`, which stands for a value that is left out; None is JSON's null."""

    NO_VALUE = "no value"


NO_VALUE = Missing.NO_VALUE


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A value to choose. The title and the description come from the schema and are not safe to display."""

    value: Any  # text, number, boolean or null
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """The limits for the value of a field. For a list, limits for texts and numbers apply to each item."""

    min_length: int = 0
    max_length: int | None = None
    pattern: str = ""
    format: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    """An exclusive minimum."""
    below: float | None = None
    """An exclusive maximum."""
    multiple_of: float | None = None
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False  # whether all items must differ


@dataclass(frozen=True, slots=True)
class Field:
    """A property of the object that the form produces. Texts come from the schema: not safe to display."""

    name: str
    kind: FieldKind
    title: str = ""
    description: str = ""
    required: bool = False
    nullable: bool = False
    default: Any = NO_VALUE
    choices: tuple[FieldChoice, ...] = ()
    limits: ValueLimits = ValueLimits()
    item_kind: FieldKind = "text"
    """The kind of the items of a list: text, integer or number."""

    @property
    def label(self) -> str:
        """The title, or the name if there is none."""
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class Form:
    """The fields in the order of the schema."""

    fields: tuple[Field, ...]
    title: str = ""
    description: str = ""


class NotAForm(Exception):  # noqa: N818  # not a fault: such a value is edited as JSON
    """The schema does not describe a form. The message says why; it completes "edited as JSON because …"."""


def expectation(field: Field, between_items: str = "one per line") -> str:
    """Return what a field expects, such as "whole number, 1 to 10"; "" for a choice or unrestricted text.

    `between_items` says how the items of a list are entered.
    """
    limits = field.limits
    words = _KINDS.get(field.kind, "")
    if field.kind == "list":
        words = ", ".join(filter(None, [_ITEMS[field.item_kind], between_items]))
    if field.kind == "text" or (field.kind == "list" and field.item_kind == "text"):
        parts = [
            words,
            _FORMATS.get(limits.format, ""),
            _size(limits.min_length, limits.max_length, "characters"),
        ]
    else:
        parts = [words, _range(limits)]
    if field.kind in ("list", "choices"):
        parts.append(_size(limits.min_items, limits.max_items, "items"))
    return ", ".join(filter(None, parts))


def _size(least: int, most: int | None, noun: str) -> str:
    if most is None:
        return f"at least {least:,} {noun}" if least > 1 else ""
    if least == most:
        return f"{least:,} {noun}"
    return f"{least:,} to {most:,} {noun}" if least else f"up to {most:,} {noun}"


def _range(limits: ValueLimits) -> str:
    if limits.minimum is not None and limits.maximum is not None:
        return f"{limits.minimum} to {limits.maximum}"
    bounds = (
        ("at least", limits.minimum),
        ("at most", limits.maximum),
        ("more than", limits.above),
        ("less than", limits.below),
    )
    return ", ".join(f"{words} {bound}" for words, bound in bounds if bound is not None)


def asks_for_secret(field: Field) -> bool:
    """Return True if a field seems to ask for a password, a token or the like.

    A name such as `maxTokens` does not count, because a number of tokens is not a secret.
    """
    if field.limits.format == "password":
        return True
    if field.kind != "text":
        return False
    names = f"{' '.join(_WORDS.findall(field.name))} | {field.title}".lower()
    prose = field.description[:MAX_SEARCHED].lower()
    return bool(_SECRET_NAMES.search(names) or _SECRET_PROSE.search(prose))
