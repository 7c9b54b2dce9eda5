"""What was asked before comes back."""

from __future__ import annotations

from textual.events import Paste
from textual.widgets import Input

from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.history_search import HistoryInput
from tests.ui.prompt.host import Host, write


async def test_up_and_down_walk_through_what_was_asked() -> None:
    app = Host("first", "second")
    async with app.run_test() as pilot:
        seen = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(app.prompt.text)
        assert seen == ["second", "first", "first", "second", "", ""]


async def test_what_is_written_is_not_lost_to_the_up_key() -> None:
    app = Host("first")
    async with app.run_test() as pilot:
        await write(pilot, "new")
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.text == "new"
        assert app.editor.cursor_location == (0, 0)


async def test_rows_come_before_the_history() -> None:
    app = Host("first", "one\ntwo\nthree")
    async with app.run_test() as pilot:
        await pilot.press("up")
        await pilot.pause()
        assert app.editor.cursor_location[0] == 0
        await pilot.press("down", "down")
        await pilot.pause()
        assert app.prompt.text == "one\ntwo\nthree"
        assert app.editor.cursor_location[0] == 2
        await pilot.press("up", "up", "up")
        await pilot.pause()
        assert app.prompt.text == "first"


async def test_changes_of_a_recalled_prompt_stay_while_walking_and_end_with_sending() -> None:
    app = Host("first", "second")
    async with app.run_test() as pilot:
        await pilot.press("up", "end", "!", "up", "down")
        await pilot.pause()
        assert app.prompt.text == "second!"
        await pilot.press("enter")
        await pilot.press("up", "up")
        await pilot.pause()
        assert app.prompt.text == "second"


async def test_the_queue_comes_before_the_history() -> None:
    app = Host("first")
    async with app.run_test() as pilot:
        app.show_queue("waiting")
        await pilot.press("up")
        await pilot.pause()
        assert len(app.heard(Prompt.EditLastQueued)) == 1
        assert app.prompt.text == ""
        app.prompt.load("waiting")
        app.show_queue()
        await pilot.press("ctrl+u", "up")
        await pilot.pause()
        assert app.prompt.text == "first"


async def test_a_recalled_command_opens_no_menu() -> None:
    app = Host("first", "/ex")
    async with app.run_test() as pilot:
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.text == "/ex"
        assert not app.prompt.has_open_menu
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.text == "first"


async def test_the_search_finds_all_words_and_takes_the_latest() -> None:
    app = Host("fix the login", "explain the login page", "unrelated", "say FIX twice\nlogin")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await write(pilot, "login fix")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.text == "say FIX twice\nlogin"
        assert not app.prompt.has_open_menu
        assert app.focused is app.editor
        await pilot.press("ctrl+r")
        await write(pilot, "login")
        await pilot.press("ctrl+r", "up", "enter")
        await pilot.pause()
        assert app.prompt.text == "fix the login"


async def test_escape_leaves_the_search_and_what_was_written() -> None:
    app = Host("first")
    async with app.run_test() as pilot:
        await write(pilot, "mine")
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert isinstance(app.focused, Input)
        await write(pilot, "fir")
        assert app.prompt.text == "mine"
        await pilot.press("escape")
        await pilot.pause()
        assert not app.prompt.has_open_menu
        assert app.prompt.text == "mine"
        await write(pilot, "!")
        assert app.prompt.text == "mine!"


async def test_nothing_pasted_into_the_search_reaches_the_terminal_as_a_command() -> None:
    app = Host("first")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await pilot.pause()
        app.post_message(Paste("fi\x1b[31m\u202er"))
        await pilot.pause()
        assert app.query_one(HistoryInput).value == "fir"


async def test_a_search_without_hits_takes_nothing() -> None:
    app = Host("first")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await write(pilot, "zzz")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.has_open_menu
        assert app.prompt.text == ""


async def test_an_empty_history_says_so() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert not app.prompt.has_open_menu
        assert len(app._notifications) == 1
