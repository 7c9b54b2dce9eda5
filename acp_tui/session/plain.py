"""Dataclasses that are made quickly: dozens of them are made at every start, before anything is shown.

`dataclass` writes and compiles methods for each class at once, though most classes of a start are needed
later, and some never. These are compiled when the first object is made, and share what is seldom called.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_COMPILED = ("__init__", "__dataclass_fields__", "__dataclass_params__", "__match_args__")


@dataclass_transform(field_specifiers=(field,))
def plain(*, kw_only: bool = False, frozen: bool = False, eq: bool = True) -> Callable[[type[_T]], type[_T]]:
    """Like `dataclass(slots=True)`, to the eye: equal by fields, told by fields, hashable when frozen."""

    def made(kind: type[Any]) -> type[_T]:
        def compiled() -> None:
            dataclass(kw_only=kw_only, frozen=frozen, eq=False, repr=False)(kind)
            for name in _COMPILED:
                setattr(slotted, name, getattr(kind, name))

        def first(self: Any, *given: Any, **named: Any) -> None:
            compiled()
            slotted.__init__(self, *given, **named)

        own = [name for name, of in kind.__annotations__.items() if "ClassVar" not in str(of)]
        gone = {*own, "__dict__", "__weakref__"}
        body = {name: value for name, value in kind.__dict__.items() if name not in gone}
        body |= {"__slots__": tuple(own), "__qualname__": kind.__qualname__, "__repr__": _told}
        body |= {"__init__": first, "__dataclass_fields__": _Asked(compiled)}
        if eq:
            body |= {"__eq__": _equal, "__hash__": _hashed if frozen else None}
        if frozen:
            body |= {"__setattr__": _fixed, "__delattr__": _fixed}
        meta: Any = type(kind)
        slotted = meta(kind.__name__, kind.__bases__, body)
        return slotted  # type: ignore[no-any-return]

    return made


class _Asked:
    """Stands for the fields of a class until somebody asks for them before there is an object."""

    def __init__(self, compiled: Callable[[], None]) -> None:
        self._compiled = compiled

    def __get__(self, instance: object, owner: type) -> Any:
        self._compiled()
        return owner.__dataclass_fields__  # type: ignore[attr-defined]


def _compared(value: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, part.name) for part in fields(value) if part.compare)


def _equal(self: Any, other: Any) -> bool:
    if self is other:
        return True
    if type(other) is not type(self):
        return NotImplemented  # type: ignore[no-any-return]  # Python asks the other one
    return _compared(self) == _compared(other)


def _hashed(self: Any) -> int:
    return hash(_compared(self))


def _told(self: Any) -> str:
    told = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{type(self).__name__}({', '.join(told)})"


def _fixed(self: Any, name: str, *_value: Any) -> None:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")
