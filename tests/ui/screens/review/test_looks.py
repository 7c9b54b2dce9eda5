"""Pictures of the review screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from textual.events import Paste

from acp_tui.ui.theme.themes import load_theme
from tests.support.looks import Show, two_looks, use_theme
from tests.ui.screens.review.sample_review import SampleReview, sample_review, sample_screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot
    from textual.screen import Screen

    Compare = Callable[..., bool]


def app(theme: str, first: str = "", review: SampleReview | None = None) -> Show:
    return Show(
        theme,
        screen=lambda: cast("Screen[object]", sample_screen(review or sample_review(), first)),
    )


@pytest.mark.parametrize(
    ("theme", "size"),
    [("dark", (80, 24)), ("light", (120, 40)), ("ansi", (80, 24)), ("dark", (200, 60))],
    ids=["80x24-dark", "120x40-light", "80x24-ansi", "200x60-dark"],
)
def test_hunks_with_a_comment(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, "src/login.py"), terminal_size=size)


@pytest.mark.parametrize(
    ("name", "theme", "size"),
    [
        ("docs/logo.png", "dark", (80, 24)),
        ("src/errors.py", "light", (120, 40)),
        ("src/users.py", "ansi", (80, 24)),
    ],
    ids=["binary-dark-80x24", "new-light-120x40", "accepted-ansi-80x24"],
)
def test_files_without_hunks(snap_compare: Compare, theme: str, size: tuple[int, int], name: str) -> None:
    assert snap_compare(app(theme, name), terminal_size=size)


@two_looks
def test_a_comment_on_several_lines_is_written(
    snap_compare: Compare, theme: str, size: tuple[int, int]
) -> None:
    async def write(pilot: Pilot[Any]) -> None:
        await pilot.press("v", "down", "down", "c")
        pilot.app.post_message(Paste("Is this tested?"))
        await pilot.pause()

    assert snap_compare(app(theme, "src/login.py"), terminal_size=size, run_before=write)


@two_looks
def test_the_focus_on_the_list(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, "run.sh"), terminal_size=size, press=["tab"])


@two_looks
def test_the_filters(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, "src/login.py"), terminal_size=size, press=["f"])


@two_looks
def test_one_turn_only(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.press("f", "down", "enter")
        await pilot.pause()

    assert snap_compare(app(theme, "src/login.py"), terminal_size=size, run_before=choose)


async def test_a_new_theme_changes_all_colours() -> None:
    one = app("dark", "src/login.py")
    async with one.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        use_theme(one, "light")
        await pilot.pause()
        styles = {str(style) for strip in one.screen._compositor.render_strips() for _, style, _ in strip}
        assert not [style for style in styles if str(load_theme("dark").palette.warning.color) in style]


@two_looks
def test_nothing_has_changed(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app(theme, review=SampleReview()), terminal_size=size)
