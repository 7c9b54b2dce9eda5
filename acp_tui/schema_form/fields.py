"""The fields of a form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

FieldKind = Literal["text", "integer", "number", "choice", "choices", "list", "json"]
"""How a field is filled in.

`choice` is one of several values, also for booleans. `choices` is an array with any of several values.
`list` is an array of texts or numbers, one per line. `json` is every other value.
"""


class Missing(Enum):
    """The type of `NO_VALUE`, which stands for a value that is left out; None is JSON's null."""

    NO_VALUE = "no value"


NO_VALUE = Missing.NO_VALUE


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A value to choose. The title and the description come from the schema and are not safe to display."""

    value: Any  # a text, number, boolean or null
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
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
    limits: Limits = Limits()
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
