"""What is plain behaves as any dataclass does."""

from __future__ import annotations

from dataclasses import field, fields, replace

import pytest

from acp_tui.session.plain import plain


@plain()
class Point:
    x: int
    y: int = 0
    seen: bool = field(default=False, compare=False, repr=False)


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
