"""Recall of and search in the prompt history."""

from __future__ import annotations

from textual.events import Paste
from textual.widgets import Input

from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.history import HistoryInput
from tests.ui.prompt.prompt_app import PromptApp, type_text


async def test_up_and_down_recall_earlier_prompts() -> None:
    app = PromptApp("first", "second")
    async with app.run_test() as pilot:
        seen = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(app.prompt.text)
        assert seen == ["second", "first", "first", "second", "", ""]


async def test_up_does_not_replace_a_typed_text() -> None:
    app = PromptApp("first")
    async with app.run_test() as pilot:
        await type_text(pilot, "new")
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.text == "new"
        assert app.editor.cursor_location == (0, 0)


async def test_up_and_down_move_between_rows_before_recalling() -> None:
    app = PromptApp("first", "one\ntwo\nthree")
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


async def test_edits_of_recalled_prompts_last_until_a_prompt_is_sent() -> None:
    app = PromptApp("first", "second")
    async with app.run_test() as pilot:
        await pilot.press("up", "end", "!", "up", "down")
        await pilot.pause()
        assert app.prompt.text == "second!"
        await pilot.press("enter")
        await pilot.press("up", "up")
        await pilot.pause()
        assert app.prompt.text == "second"


async def test_up_edits_a_queued_prompt_before_recalling() -> None:
    app = PromptApp("first")
    async with app.run_test() as pilot:
        app.show_queue("waiting")
        await pilot.press("up")
        await pilot.pause()
        assert len(app.messages_of(Prompt.EditLastQueued)) == 1
        assert app.prompt.text == ""
        app.prompt.load("waiting")
        app.show_queue()
        await pilot.press("ctrl+u", "up")
        await pilot.pause()
        assert app.prompt.text == "first"


async def test_a_recalled_command_does_not_open_the_menu() -> None:
    app = PromptApp("first", "/ex")
    async with app.run_test() as pilot:
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.text == "/ex"
        assert not app.prompt.has_open_menu
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.text == "first"


async def test_the_search_matches_all_words_and_selects_the_latest() -> None:
    app = PromptApp("fix the login", "explain the login page", "unrelated", "say FIX twice\nlogin")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await type_text(pilot, "login fix")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.text == "say FIX twice\nlogin"
        assert not app.prompt.has_open_menu
        assert app.focused is app.editor
        await pilot.press("ctrl+r")
        await type_text(pilot, "login")
        await pilot.press("ctrl+r", "up", "enter")
        await pilot.pause()
        assert app.prompt.text == "fix the login"


async def test_escape_closes_the_search_and_keeps_the_text() -> None:
    app = PromptApp("first")
    async with app.run_test() as pilot:
        await type_text(pilot, "mine")
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert isinstance(app.focused, Input)
        await type_text(pilot, "fir")
        assert app.prompt.text == "mine"
        await pilot.press("escape")
        await pilot.pause()
        assert not app.prompt.has_open_menu
        assert app.prompt.text == "mine"
        await type_text(pilot, "!")
        assert app.prompt.text == "mine!"


async def test_control_characters_are_removed_from_pasted_search_text() -> None:
    app = PromptApp("first")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await pilot.pause()
        app.post_message(Paste("fi\x1b[31m\u202er"))
        await pilot.pause()
        assert app.query_one(HistoryInput).value == "fir"


async def test_enter_without_a_match_keeps_the_search_open() -> None:
    app = PromptApp("first")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await type_text(pilot, "zzz")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.has_open_menu
        assert app.prompt.text == ""


async def test_an_empty_history_is_reported() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert not app.prompt.has_open_menu
        assert len(app._notifications) == 1
