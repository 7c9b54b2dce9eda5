"""The line that the conversation is searched with."""

from __future__ import annotations

import pytest
from textual import events

from acp_tui.session.state import Choice
from acp_tui.ui.app import AcpTui
from acp_tui.ui.screens.choose import ChooseScreen
from acp_tui.ui.widgets.input_line import InputLine
from tests.ui.panes.stage import Stage, session, stage


def row(app: AcpTui, from_the_end: int) -> str:
    """A row of the screen as text."""
    return app.screen._compositor.render_strips()[-from_the_end].text.strip()


def told(app: AcpTui) -> str:
    """Which hit of how many."""
    return row(app, 2).rpartition("  ")[2]


async def test_the_footer_tells_the_keys_of_the_search() -> None:
    app = stage("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("ctrl+f")
        await pilot.pause()
        assert row(app, 1).startswith("Enter next  ↑ previous  Esc close")


async def test_the_keys_of_the_footer_go_on_and_back() -> None:
    app = stage("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("ctrl+f", *"paragraph")
        await pilot.pause()
        assert told(app) == "30 found"
        for key, where in [("enter", "1"), ("down", "2"), ("enter", "3"), ("up", "2"), ("up", "1")]:
            await pilot.press(key)
            await pilot.pause()
            assert told(app) == f"{where} of 30"


async def test_enter_means_nothing_there_when_another_key_goes_on() -> None:
    app = AcpTui(lambda palette: Stage(session(), palette))
    app.set_keymap({"find.next": "f12"})
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("ctrl+f", *"paragraph", "enter")
        await pilot.pause()
        assert told(app) == "30 found"
        await pilot.press("f12")
        await pilot.pause()
        assert told(app) == "1 of 30"


@pytest.mark.parametrize("where", ["search", "list"])
async def test_nothing_pasted_into_a_line_reaches_the_terminal_as_a_command(where: str) -> None:
    app = stage("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        if where == "search":
            await pilot.press("ctrl+f")
        else:
            choices = [Choice(name, name) for name in "abcd"]
            app.push_screen(ChooseScreen("One of", choices, app.palette))
        await pilot.pause()
        line = app.screen.query_one(InputLine)
        line.post_message(events.Paste("a\x1b[31m\x07b"))
        await pilot.pause()
        assert line.value == "ab"


async def test_a_search_that_is_over_goes_on_with_n_and_is_there_again_with_its_key() -> None:
    app = stage("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("ctrl+f", *"paragraph", "enter", "enter", "escape")
        await pilot.pause()
        assert "paragraph" not in row(app, 2), "the line is gone"
        await pilot.press("n")
        await pilot.pause()
        assert told(app) == "1 of 30"
        await pilot.press("n", "n", "N")
        await pilot.pause()
        assert told(app) == "2 of 30"
        await pilot.press("ctrl+f", "escape", "ctrl+f")
        await pilot.pause()
        assert told(app) == "30 found"
        await pilot.press("enter")
        await pilot.pause()
        assert told(app) == "1 of 30"
        await pilot.press(*"nothing like this")
        await pilot.pause()
        assert told(app) == "no matches"
