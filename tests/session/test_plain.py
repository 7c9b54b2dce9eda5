"""What is plain behaves as any dataclass does."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, field, fields, replace
from typing import ClassVar

import pytest

from acp_tui.session.plain import plain


@plain()
class Point:
    x: int
    y: int = 0
    seen: bool = field(default=False, compare=False, repr=False)


@plain(frozen=True)
class Fixed:
    of: ClassVar[str] = "all"
    x: int
    y: list[int] = field(default_factory=list, compare=False)


@plain(eq=False)
class Itself:
    x: int = 0

    def __post_init__(self) -> None:
        self.x += 1


@plain(kw_only=True)
class Place(Point):
    name: str


def test_equal_is_what_has_equal_fields_and_is_of_the_same_kind() -> None:
    assert Point(1, 2) == Point(1, 2, seen=True)
    assert Point(1, 2) != Point(1, 3)
    assert Place(x=1, y=2, name="") != Point(1, 2)


def test_it_is_told_by_its_fields() -> None:
    assert repr(Place(x=1, name="here")) == "Place(x=1, y=0, name='here')"


def test_it_has_slots_fields_and_no_hash() -> None:
    assert [part.name for part in fields(Place(x=1, name=""))] == ["x", "y", "seen", "name"]
    assert replace(Point(1), y=5) == Point(1, 5)
    assert not hasattr(Point(1), "__dict__")
    with pytest.raises(TypeError):
        hash(Point(1))


def test_what_is_frozen_stays_as_it_is_and_can_be_a_key() -> None:
    one = Fixed(1)
    with pytest.raises(FrozenInstanceError):
        one.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del one.x
    assert {one: "found"}[Fixed(1, [2])] == "found"
    assert replace(one, x=3).x == 3
    assert Fixed.of == "all"


def test_what_is_equal_only_to_itself_can_be_a_key_too() -> None:
    one = Itself()
    assert one.x == 1
    assert one != Itself()
    assert {one: "found"}[one] == "found"


def test_the_fields_are_known_before_there_is_an_object() -> None:
    @plain()
    class Early(Point):
        z: int = 0

    assert [part.name for part in fields(Early)] == ["x", "y", "seen", "z"]
    assert Early(1, z=2).z == 2


def test_what_is_missing_or_too_much_is_refused() -> None:
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, 2, other=3)  # type: ignore[call-arg]
