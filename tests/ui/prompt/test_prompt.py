"""Writing and sending."""

from __future__ import annotations

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from acp_tui.ui.prompt import Prompt
from tests.ui.prompt.host import Host, write


async def test_enter_sends_what_was_written_and_empties_the_prompt() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "fix the bug")
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "fix the bug"
        assert sent.attachments == []
        assert app.prompt.text == ""
        assert app.history.texts == ["fix the bug"]


@pytest.mark.parametrize("key", ["ctrl+j", "alt+enter", "shift+enter"])
async def test_a_line_is_begun_by_any_of_these(key: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        await pilot.pause()
        assert app.prompt.text == "a\nb"
        assert not app.heard(Prompt.Submitted)


async def test_alt_enter_is_no_enter_in_terminals_that_send_it_as_escape_and_return() -> None:
    async with Host().run_test():
        keys = [event.key for event in XTermParser().feed("\x1b\r") if isinstance(event, Key)]
        assert keys == ["alt+enter"]


async def test_enter_in_an_empty_prompt_sends_nothing_but_lets_the_queue_go_on() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "  \n")
        await pilot.press("enter")
        await pilot.pause()
        assert not app.heard(Prompt.Submitted)
        assert len(app.heard(Prompt.ResumeQueue)) == 1
        assert app.history.texts == []


async def test_send_now_takes_the_prompt_or_means_the_queue() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("alt+s")  # nothing to send at all
        await write(pilot, "at once")
        await pilot.press("alt+s")
        app.show_queue("waiting")
        await pilot.press("ctrl+enter")
        await pilot.pause()
        texts = [message.text for message in app.heard(Prompt.SendNow) if isinstance(message, Prompt.SendNow)]
        assert texts == ["at once", ""]


async def test_it_grows_with_its_lines_to_a_third_of_the_screen() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        heights = []
        for _ in range(12):
            heights.append(app.editor.size.height)
            await write(pilot, "x\n")
        assert heights[:3] == [1, 2, 3]
        assert 7 <= heights[-1] <= 8
        app.prompt.load("word " * 40)
        await pilot.pause()
        assert app.editor.size.height == 3  # wrapped


async def test_typing_within_a_line_leaves_the_layout_alone() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.pause()
        layouts = []
        app.screen.screen_layout_refresh_signal.subscribe(app.screen, lambda _: layouts.append(1))
        await write(pilot, "some words")
        assert layouts == []
        await write(pilot, "\n")
        assert layouts


async def test_the_placeholder_names_the_agent_as_plain_text() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.agent_title = "[b]Claude[/b]\x1b[31m"
        await pilot.pause()
        assert str(app.editor.placeholder) == "Message [b]Claude[/b]␛[31m"
        app.prompt.agent_title = "Very " * 100 + "Long"
        assert str(app.editor.placeholder) == f"Message {'Very ' * 11}Very…"


async def test_a_draft_never_replaces_what_is_being_written() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.load_draft("of last time")
        await pilot.pause()
        assert app.prompt.text == "of last time"
        app.prompt.load_draft("another")
        await pilot.pause()
        assert app.prompt.text == "of last time"


async def test_a_draft_says_what_is_not_kept_with_it() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.load_draft("see [image 1] and [output of ls #2], but not [this]")
        await pilot.pause()
        (told,) = app._notifications
        assert told.message == (
            "Drafts do not keep attachments: attach [image 1] and [output of ls #2] again."
        )


async def test_the_draft_is_told_while_writing_and_gone_once_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_tui.ui.prompt.prompt.DRAFT_PAUSE", 0.001)
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "ab")
        for _ in range(200):
            if app.heard(Prompt.DraftChanged):
                break
            await pilot.pause(0.005)
        told = app.heard(Prompt.DraftChanged)
        assert told
        assert isinstance(told[-1], Prompt.DraftChanged)
        assert "ab".startswith(told[-1].text)
        await pilot.press("enter")
        await pilot.pause()
        change = app.heard(Prompt.DraftChanged)[-1]
        assert isinstance(change, Prompt.DraftChanged)
        assert change.text == ""


async def test_ctrl_c_copies_a_selection_and_is_left_to_the_screen_without_one() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "copy me")
        await pilot.press("ctrl+c")
        assert app.interrupted == 1
        await pilot.press("f7", "ctrl+c")
        await pilot.pause()
        assert app.clipboard == "copy me"
        assert app.interrupted == 1


async def test_keys_can_be_given_to_others_without_taking_those_of_the_menu_along() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.set_keymap({"prompt.send": "f9", "prompt.newline": "enter"})
        await pilot.press("a", "enter", "b", "f9")
        await pilot.pause()
        (sent,) = app.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "a\nb"
        await write(pilot, "/exp")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.text == "/explain "


async def test_editing_keys_of_the_table_reach_the_text() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "one two three")
        await pilot.press("ctrl+w", "ctrl+a", "delete", "end", "X", "ctrl+underscore")
        await pilot.pause()
        assert app.prompt.text == "ne two "
        await pilot.press("ctrl+u")
        await pilot.pause()
        assert app.prompt.text == ""


async def test_another_part_of_the_screen_can_pass_typing_on() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.screen.set_focus(None)
        app.prompt.focus()
        app.prompt.insert("x")
        await write(pilot, "yz")
        assert app.prompt.text == "xyz"
