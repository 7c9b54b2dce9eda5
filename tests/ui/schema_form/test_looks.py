"""Pictures of the form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.looks import SMALL, look
from tests.ui.schema_form.sample_forms import BOOKING, NESTED, SECRETS, form_app

if TYPE_CHECKING:
    from collections.abc import Callable

    Snap = Callable[..., bool]


@look
def test_fields_with_a_problem(theme: str, size: tuple[int, int], snap_compare: Snap) -> None:
    app = form_app(BOOKING, theme)
    keys = ["A", "d", "a", "enter", "x", "enter"]
    assert snap_compare(app, press=keys, terminal_size=size)


@pytest.mark.parametrize("theme", ["dark", "ansi"])
def test_json(theme: str, snap_compare: Snap) -> None:
    schema = NESTED | {"required": ["path"]}
    assert snap_compare(form_app(schema, theme), press=["5"], terminal_size=SMALL)


def test_secrets_and_many_choices(snap_compare: Snap) -> None:
    more: dict[str, Any] = {"message": "Please sign in to the booking system.", "allow_decline": True}
    app = form_app(SECRETS, title="office asks for input", **more)
    assert snap_compare(app, press=["tab", "x", "tab", "tab"], terminal_size=SMALL)


def test_review(snap_compare: Snap) -> None:
    keys = ["A", "d", "a", "enter", "enter", "space", "ctrl+s"]
    app = form_app(BOOKING, values={"guests": ["Grace Hopper", "Barbara Liskov"]})
    assert snap_compare(app, press=keys, terminal_size=SMALL)
