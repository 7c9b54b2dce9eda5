"""Dataclasses that are made quickly: dozens of them are made at every start, before anything is shown.

`dataclass` writes and compiles methods for each class. These share those that are seldom called.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


@dataclass_transform(field_specifiers=(field,))
def plain(*, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]:
    """Like `dataclass(slots=True)`, to the eye: equal by fields, told by fields, not hashable."""

    def made(kind: type[Any]) -> type[_T]:
        kind.__eq__, kind.__hash__, kind.__repr__ = _equal, None, _told  # type: ignore[assignment]
        return dataclass(slots=True, kw_only=kw_only, eq=False, repr=False)(kind)

    return made


def _equal(self: Any, other: Any) -> bool:
    if type(other) is not type(self):
        return NotImplemented  # type: ignore[no-any-return]  # Python asks the other one
    compared = (part.name for part in fields(self) if part.compare)
    return all(getattr(self, name) == getattr(other, name) for name in compared)


def _told(self: Any) -> str:
    told = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{type(self).__name__}({', '.join(told)})"
