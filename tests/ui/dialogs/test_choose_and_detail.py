"""The list dialog and the detail page."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import Input

from acp_tui.session.state import Choice, Diff
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.entries.diff import DiffBody
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList
from tests.support.looks import Show

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.pilot import Pilot
    from textual.screen import Screen

    from acp_tui.ui.drawing.body import DrawContext

CHOICES = [
    Choice("ask", "Ask", "Asks before anything"),
    Choice("plan", "Plan mode"),
    Choice("https://example.org/auto", "Auto", group="risky"),
    *(Choice(f"m{number}", f"Model {number}") for number in range(40)),
]


@asynccontextmanager
async def showing(
    screen: Callable[[], Screen[object]], size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Show, Pilot[None]]]:
    app = Show("dark", screen=screen)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


def choosing(choices: list[Choice] = CHOICES, current: str | None = "plan") -> Callable[[], Screen[object]]:
    return lambda: ChooseScreen("Mode", choices, current=current)  # type: ignore[return-value]


async def test_keys_move_and_choose() -> None:
    async with showing(choosing()) as (app, pilot):
        for keys, answer in (
            (["enter"], "plan"),
            (["up", "enter"], "ask"),
            (["down", "enter"], "https://example.org/auto"),
            (["up", "up", "enter"], "m39"),
            (["pageup", "enter"], "ask"),
            (["pagedown", "enter"], "m6"),
            (["escape"], None),
            (["ctrl+c"], None),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            assert app.answers.pop() == answer
            assert not app.answers
            app.on_mount()  # asks again
            await pilot.pause()


async def test_typing_filters_and_an_empty_filter_shows_the_current_row() -> None:
    async with showing(choosing()) as (app, pilot):
        for text, answer in (("model17", "m17"), ("risky", "https://example.org/auto")):
            app.screen.query_one(Input).value = text
            await pilot.press("enter")
            await pilot.pause()
            assert app.answers.pop() == answer
            app.on_mount()  # asks again
            await pilot.pause()
        await pilot.press("a", "u", "backspace", "backspace", "enter")
        await pilot.pause()
        assert app.answers == ["plan"]


async def test_a_short_list_has_neither_filter_nor_count() -> None:
    answers = [Choice("yes", "Restore it"), Choice("no", "Leave it")]
    async with showing(choosing(answers, current=None)) as (app, pilot):
        assert not app.screen.query(Input)
        head = app.screen.query_one("#head").render_line(0).text
        assert head.split() == ["Mode"]
        await pilot.press("x", "down", "enter")
        await pilot.pause()
        assert app.answers == ["no"]


async def test_the_current_row_is_marked_and_a_click_chooses_another() -> None:
    async with showing(choosing()) as (app, pilot):
        rows = app.screen.query_one(SelectList)
        lines = [rows.render_line(y).text.rstrip() for y in range(4)]
        assert lines == ["    Ask", "    Asks before anything", "❯ ● Plan mode", "    Auto  risky"]
        await pilot.click(SelectList, offset=(8, 3))
        await pilot.pause()
        assert app.answers == ["https://example.org/auto"]


async def test_enter_without_matches_chooses_nothing() -> None:
    async with showing(choosing()) as (app, pilot):
        app.screen.query_one(Input).value = "zzz"
        await pilot.press("down", "pagedown", "enter")
        await pilot.pause()
        assert app.answers == []
        assert app.screen.query_one(Input).value == "zzz"
        assert app.screen.query_one(SelectList).render_line(0).text.strip() == "No matches"


async def test_the_list_fits_on_the_screen() -> None:
    async with showing(choosing(current="m39"), size=(40, 14)) as (app, pilot):
        assert app.screen.query_one("#dialog").region.bottom <= 14
        rows = app.screen.query_one(SelectList)
        drawn = [rows.render_line(y).text.strip() for y in range(rows.size.height)]
        assert "❯ ● Model 39" in drawn
        await pilot.press("home", "down")
        await pilot.pause()
        assert rows.scroll_offset.y == 0


async def test_names_are_not_parsed_as_markup() -> None:
    async with showing(choosing([Choice("x", "[b]bold[/b]", "[red]")])) as (app, _):
        assert "[b]bold[/b]" in app.screen.query_one(SelectList).render_line(0).text


TEXT = "\n".join(f"line {number}" for number in range(200))


def showing_text(text: str = TEXT) -> Callable[[], Screen[object]]:
    return lambda: DetailScreen("Details", text)  # type: ignore[return-value]


def _top(app: Show) -> str:
    return app.screen.query_one(BodyScroller).render_line(0).text.strip()


async def test_details_scroll_and_show_the_position() -> None:
    async with showing(showing_text()) as (app, pilot):
        for keys, top in (
            (["down", "j"], "line 2"),
            (["up"], "line 1"),
            (["g", "space", "pagedown", "pageup"], "line 21"),
            (["end"], "line 178"),
            (["g"], "line 0"),
            (["G"], "line 178"),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            assert _top(app) == top
        assert app.screen.query_one("#head").render_line(0).text.rstrip().endswith("179–200 of 200")


async def test_long_lines_wrap_at_the_width() -> None:
    wide = "漢字" * 100
    async with showing(showing_text(f"{wide}\nend"), size=(60, 24)) as (app, pilot):
        page = app.screen.query_one(BodyScroller)
        assert page.virtual_size.height == 8
        assert all(page.render_line(y).cell_length == page.inner_width for y in range(8))
        await pilot.resize_terminal(110, 24)
        await pilot.pause()
        assert page.virtual_size.height == 5
        assert page.render_line(4).text.strip() == "end"


async def test_details_can_show_bodies() -> None:
    def bodies(context: DrawContext) -> list[DiffBody]:
        return [DiffBody(Diff("a.py", "one\n", "two\n"), context)]

    async with showing(lambda: DetailScreen("a.py", bodies)) as (app, _):  # type: ignore[arg-type, return-value]
        page = app.screen.query_one(BodyScroller)
        text = "\n".join(page.render_line(y).text for y in range(4))
        assert "one" in text
        assert "two" in text


async def test_y_and_ctrl_c_copy_and_ctrl_c_without_a_selection_closes() -> None:
    async with showing(showing_text()) as (app, pilot):
        await pilot.press("y")
        assert app.clipboard == TEXT
        await pilot.mouse_down(BodyScroller, offset=(1, 2))
        await pilot.hover(BodyScroller, offset=(6, 3))
        await pilot.mouse_up(BodyScroller, offset=(6, 3))
        await pilot.press("y")
        assert app.clipboard == "line 2\nline 3"
        app.copy_to_clipboard("")
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.clipboard == "line 2\nline 3"
        assert app.answers == []
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.answers == [None]


async def test_q_and_escape_close_details() -> None:
    async with showing(showing_text()) as (app, pilot):
        await pilot.press("q")
        app.on_mount()  # shows it again
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert app.answers == [None, None]


HIDDEN = "Full\u200b access" + "".join(chr(0xE0000 + ord(char)) for char in "rm")


@pytest.mark.parametrize(
    "dialog",
    [
        lambda: ChooseScreen("Mode", [Choice("m", HIDDEN, HIDDEN)], note=HIDDEN),
        lambda: ConfirmScreen(f"Use {HIDDEN}?", yes=HIDDEN, no="No"),
    ],
)
async def test_invisible_characters_are_shown_wherever_the_user_decides(dialog: Any) -> None:
    app = Show("dark", screen=dialog)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        shown = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert shown.count("Full‹200b› access‹e0072›‹e006d›") >= 2
        assert HIDDEN not in shown
