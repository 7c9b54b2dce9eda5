"""Pictures of the review screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from acp_tui.ui.theme.themes import load_theme
from tests.support.looks import Show, every_look, look
from tests.ui.review.sample_review import SampleReview, sample_review, sample_screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot
    from textual.screen import Screen

    Compare = Callable[..., bool]


def app(theme: str, first: str = "", review: SampleReview | None = None) -> Show:
    return Show(
        theme,
        screen=lambda palette: cast(
            "Screen[object]", sample_screen(palette, review or sample_review(), first)
        ),
    )


@every_look
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=["80x24", "120x40", "200x60"])
def test_hunks_with_a_comment(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, "src/login.py"), terminal_size=size)


@look
@pytest.mark.parametrize(
    "name",
    ["docs/logo.png", "run.sh", "src/errors.py", "src/users.py"],
    ids=["binary", "mode", "new", "accepted"],
)
def test_files_without_hunks(snap_compare: Compare, theme: str, size: tuple[int, int], name: str) -> None:
    assert snap_compare(app(theme, name), terminal_size=size)


@look
def test_a_comment_on_several_lines_is_written(
    snap_compare: Compare, theme: str, size: tuple[int, int]
) -> None:
    keys = ["v", "down", "down", "c", *"Is this tested?"]
    assert snap_compare(app(theme, "src/login.py"), terminal_size=size, press=keys)


@look
def test_the_focus_on_the_list(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, "run.sh"), terminal_size=size, press=["tab"])


@look
def test_the_filters(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, "src/login.py"), terminal_size=size, press=["f"])


@look
def test_one_turn_only(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.press("f", "down", "enter")
        await pilot.pause()

    assert snap_compare(app(theme, "src/login.py"), terminal_size=size, run_before=choose)


async def test_a_new_theme_changes_all_colours() -> None:
    one = app("dark", "src/login.py")
    other = load_theme("light")
    async with one.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        one.palette = other.palette
        one.register_theme(other.theme)
        one.theme = other.theme.name
        await pilot.pause()
        styles = {str(style) for strip in one.screen._compositor.render_strips() for _, style, _ in strip}
        assert not [style for style in styles if str(load_theme("dark").palette.warning.color) in style]


@look
def test_nothing_has_changed(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, review=SampleReview()), terminal_size=size)
