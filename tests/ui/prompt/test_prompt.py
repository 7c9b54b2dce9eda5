"""Writing and sending prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.prompt import Prompt
from tests.support.waiting import until
from tests.ui.prompt.prompt_app import PromptApp, type_text

if TYPE_CHECKING:
    import pytest


async def test_enter_sends_the_text_and_clears_the_prompt() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "fix the bug")
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "fix the bug"
        assert sent.attachments == []
        assert app.prompt.text == ""
        assert app.history.texts == ["fix the bug"]


async def test_these_keys_insert_a_line_break() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d")
        await pilot.pause()
        assert app.prompt.text == "a\nb\nc\nd"
        assert not app.messages_of(Prompt.Submitted)


async def test_enter_in_an_empty_prompt_resumes_the_queue() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "  \n")
        await pilot.press("enter")
        await pilot.pause()
        assert not app.messages_of(Prompt.Submitted)
        assert len(app.messages_of(Prompt.ResumeQueue)) == 1
        assert app.history.texts == []


async def test_send_now_sends_the_text_or_the_first_queued_prompt() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("alt+s")  # nothing to send at all
        await type_text(pilot, "now")
        await pilot.press("alt+s")
        app.show_queue("waiting")
        await pilot.press("ctrl+enter")
        await pilot.pause()
        texts = [
            message.text for message in app.messages_of(Prompt.SendNow) if isinstance(message, Prompt.SendNow)
        ]
        assert texts == ["now", ""]


async def test_the_prompt_grows_up_to_a_third_of_the_screen() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        heights = []
        for _ in range(12):
            heights.append(app.editor.size.height)
            await type_text(pilot, "x\n")
        assert heights[:3] == [1, 2, 3]
        assert 7 <= heights[-1] <= 8
        app.prompt.load("word " * 40)
        await pilot.pause()
        assert app.editor.size.height == 3  # wrapped


async def test_typing_within_a_line_does_not_change_the_layout() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        layouts = []
        app.screen.screen_layout_refresh_signal.subscribe(app.screen, lambda _: layouts.append(1))
        await type_text(pilot, "some words")
        assert layouts == []
        await type_text(pilot, "\n")
        assert layouts


async def test_the_placeholder_shows_the_agents_title_as_plain_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.agent_title = "[b]Claude[/b]\x1b[31m"
        await pilot.pause()
        assert str(app.editor.placeholder) == "Message [b]Claude[/b]␛[31m"
        app.prompt.agent_title = "Very " * 100 + "Long"
        assert str(app.editor.placeholder) == f"Message {'Very ' * 11}Very…"


async def test_a_draft_does_not_replace_a_typed_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.load_draft("of last time")
        await pilot.pause()
        assert app.prompt.text == "of last time"
        app.prompt.load_draft("another")
        await pilot.pause()
        assert app.prompt.text == "of last time"


async def test_loading_a_draft_names_its_missing_attachments() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.load_draft("see [image 1] and [output of ls #2], but not [this]")
        await pilot.pause()
        (notification,) = app._notifications
        assert notification.message == (
            "Drafts do not keep attachments: attach [image 1] and [output of ls #2] again."
        )


async def test_the_draft_is_posted_and_cleared_after_sending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acp_tui.ui.prompt.prompt.DRAFT_PAUSE", 0.001)
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "ab")
        await until(lambda: app.messages_of(Prompt.DraftChanged))
        draft = app.messages_of(Prompt.DraftChanged)[-1]
        assert isinstance(draft, Prompt.DraftChanged)
        assert "ab".startswith(draft.text)
        await pilot.press("enter")
        await pilot.pause()
        change = app.messages_of(Prompt.DraftChanged)[-1]
        assert isinstance(change, Prompt.DraftChanged)
        assert change.text == ""


async def test_ctrl_c_copies_a_selection_and_otherwise_interrupts() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "copy me")
        await pilot.press("ctrl+c")
        assert app.interrupt_count == 1
        await pilot.press("f7", "ctrl+c")
        await pilot.pause()
        assert app.clipboard == "copy me"
        assert app.interrupt_count == 1


async def test_rebinding_prompt_keys_does_not_affect_menu_keys() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.set_keymap({"prompt.send": "f9", "prompt.newline": "enter"})
        await pilot.press("a", "enter", "b", "f9")
        await pilot.pause()
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "a\nb"
        await type_text(pilot, "/exp")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.text == "/explain "


async def test_editing_keys_change_the_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "one two three")
        await pilot.press("ctrl+w", "ctrl+a", "delete", "end", "X", "ctrl+underscore")
        await pilot.pause()
        assert app.prompt.text == "ne two "
        await pilot.press("ctrl+u")
        await pilot.pause()
        assert app.prompt.text == ""


async def test_text_typed_elsewhere_can_be_inserted() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.screen.set_focus(None)
        app.prompt.focus()
        app.prompt.insert("x")
        await type_text(pilot, "yz")
        assert app.prompt.text == "xyz"


async def test_what_was_deleted_by_words_and_lines_can_be_inserted_again() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "one two three")
        await pilot.press("ctrl+w", "ctrl+w")
        assert app.prompt.text == "one "
        await pilot.press("ctrl+y")
        assert app.prompt.text == "one two three"
        await pilot.press("home", "ctrl+k", "ctrl+y", "ctrl+y")
        assert app.prompt.text == "one two threeone two three"
        await pilot.press("ctrl+underscore")
        assert app.prompt.text == "one two three"
        await pilot.press("ctrl+right_square_bracket")
        assert app.prompt.text == "one two threeone two three"
