"""The search line of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from textual import events

from acp_tui.session.state import Choice
from acp_tui.ui.app import AcpTui
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.widgets.input_line import InputLine
from tests.ui.panes.sample_screen import SampleScreen, sample_app, sample_session

if TYPE_CHECKING:
    from textual.pilot import Pilot


def row_from_end(app: AcpTui, number: int) -> str:
    """Return a row of the screen as text, counted from the bottom."""
    return app.screen._compositor.render_strips()[-number].text.strip()


async def search(pilot: Pilot[Any], text: str) -> None:
    """Open the search line and paste a text."""
    await pilot.press("ctrl+f")
    pilot.app.screen.query_one(InputLine).post_message(events.Paste(text))
    await pilot.pause()


def match_count(app: AcpTui) -> str:
    """Return the text beside the search line, such as "1 of 30"."""
    return row_from_end(app, 2).rpartition("  ")[2]


async def test_keys_go_to_the_next_and_previous_match_and_are_named() -> None:
    app = sample_app("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("ctrl+f", *"para")
        await pilot.pause()
        assert row_from_end(app, 1).startswith("Enter next  ↑ previous  Esc close")
        assert match_count(app) == "30 found"
        for key, position in [("enter", "1"), ("down", "2"), ("enter", "3"), ("up", "2"), ("up", "1")]:
            await pilot.press(key)
            await pilot.pause()
            assert match_count(app) == f"{position} of 30"


async def test_a_rebound_next_key_replaces_enter() -> None:
    app = AcpTui(lambda: SampleScreen(sample_session()))
    app.set_keymap({"find.next": "f11"})
    async with app.run_test(size=(100, 24)) as pilot:
        await search(pilot, "paragraph")
        await pilot.press("enter")
        await pilot.pause()
        assert match_count(app) == "30 found"
        await pilot.press("f11")
        await pilot.pause()
        assert match_count(app) == "1 of 30"


@pytest.mark.parametrize("where", ["search", "list"])
async def test_control_characters_are_removed_from_pastes(where: str) -> None:
    app = sample_app("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        if where == "search":
            await pilot.press("ctrl+f")
        else:
            choices = [Choice(name, name) for name in "abcd"]
            app.push_screen(ChooseScreen("One of", choices))
        await pilot.pause()
        line = app.screen.query_one(InputLine)
        line.post_message(events.Paste("a\x1b[31m\x07b"))
        await pilot.pause()
        assert line.value == "ab"


async def test_a_closed_search_continues_with_n_and_can_be_reopened() -> None:
    app = sample_app("dark")
    async with app.run_test(size=(100, 24)) as pilot:
        await search(pilot, "paragraph")
        await pilot.press("enter", "enter", "escape")
        await pilot.pause()
        assert "paragraph" not in row_from_end(app, 2), "the line is gone"
        await pilot.press("n")
        await pilot.pause()
        assert match_count(app) == "1 of 30"
        await pilot.press("n", "n", "N")
        await pilot.pause()
        assert match_count(app) == "2 of 30"
        await pilot.press("ctrl+f", "escape", "ctrl+f")
        await pilot.pause()
        assert match_count(app) == "30 found"
        await pilot.press("enter")
        await pilot.pause()
        assert match_count(app) == "1 of 30"
        await search(pilot, "nothing like this")
        assert match_count(app) == "no matches"
