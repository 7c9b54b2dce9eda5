"""Folding of large pastes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.events import Paste

from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.attachments import Pastes
from tests.ui.prompt.prompt_app import PromptApp, type_text

if TYPE_CHECKING:
    from textual.pilot import Pilot

LINES = "\n".join(f"line {number}" for number in range(120))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x\n" * 8, "x\n" * 8),
        ("x\n" * 9, "[pasted 9 lines]"),
        ("x" * 1000, "x" * 1000),
        ("x" * 1001, "[pasted 1,001 characters]"),
    ],
)
def test_only_large_texts_are_folded(text: str, shown: str) -> None:
    assert Pastes().fold(text) == shown


async def paste(pilot: Pilot[None], text: str) -> None:
    """Paste as a terminal does."""
    pilot.app.post_message(Paste(text))
    await pilot.pause()


async def test_large_pastes_become_numbered_tokens_and_are_sent_in_full() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, LINES)
        await type_text(pilot, " and ")
        await paste(pilot, "x" * 2000)
        assert app.editor.text == "[pasted 120 lines] and [pasted 2,000 characters #2]"
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == f"{LINES} and {'x' * 2000}"


async def test_tokens_inside_a_paste_are_not_expanded() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, LINES)
        await paste(pilot, "[pasted 120 lines]" + "y" * 2000)
        assert app.prompt.text == LINES + "[pasted 120 lines]" + "y" * 2000


async def test_a_token_is_deleted_as_one_character() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "a")
        await paste(pilot, LINES)
        await pilot.press("backspace")
        await pilot.pause()
        assert app.editor.text == "a"
        await paste(pilot, LINES)
        await pilot.press("left", "delete")
        await pilot.pause()
        assert app.editor.text == "a"
        await paste(pilot, LINES)
        await pilot.press("ctrl+w")
        await pilot.pause()
        assert app.editor.text == "a"
        await pilot.press("ctrl+underscore")
        await pilot.pause()
        assert app.prompt.text == f"a{LINES}"


async def test_the_cursor_moves_over_tokens() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "a")
        await paste(pilot, LINES)
        await type_text(pilot, "b")
        await pilot.press("left", "left", "x", "right", "y")
        await pilot.pause()
        assert app.prompt.text == f"ax{LINES}yb"
        await pilot.click(app.editor, offset=(8, 0))
        await pilot.press("z")
        await pilot.pause()
        assert LINES in app.prompt.text


async def test_a_key_unfolds_a_token() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, LINES)
        await type_text(pilot, " ")
        await paste(pilot, "x" * 2000)
        await pilot.press("ctrl+a", "alt+u")
        await pilot.pause()
        assert app.editor.text.startswith("line 0\nline 1\n")
        assert app.editor.text.endswith("[pasted 2,000 characters #2]")
        await pilot.press("alt+u")
        await pilot.pause()
        assert app.editor.text == f"{LINES} {'x' * 2000}"


async def test_copying_a_token_copies_the_pasted_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, LINES)
        await pilot.press("f7", "ctrl+x")
        await pilot.pause()
        assert app.clipboard == LINES
        assert app.editor.text == ""
        await pilot.press("ctrl+v")
        await pilot.pause()
        assert app.prompt.text == LINES


async def test_control_characters_are_removed_from_pastes() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, "a\x1b[31mred\x07\x9b\u202eb\r\nc\td\re")
        assert app.editor.text == "aredb\nc\td\ne"


async def test_a_recalled_prompt_contains_the_pasted_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, LINES)
        await pilot.press("enter")
        await type_text(pilot, "x")
        assert app.prompt.text == "x"
        await pilot.press("backspace", "up")
        await pilot.pause()
        assert app.editor.text == LINES


async def test_unfolding_a_paste_that_shows_the_scrollbar_can_be_undone() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await paste(pilot, "\n".join(map(str, range(14))))
        await pilot.press("alt+u")
        await pilot.pause()
        await pilot.press("ctrl+underscore")
        await pilot.pause()
        assert app.editor.text == "[pasted 14 lines]"


async def test_loading_a_long_text_can_be_undone() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.prompt.load("\n".join(map(str, range(40))))
        await pilot.pause()
        await pilot.press("ctrl+underscore")
        await pilot.pause()
        assert app.editor.text == ""


async def test_deleting_a_long_text_can_be_redone() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.prompt.load("\n".join(map(str, range(25))))
        await pilot.pause()
        app.editor.select_all()
        await pilot.press("delete")
        await pilot.pause()
        await pilot.press("ctrl+underscore")
        await pilot.pause()
        assert app.editor.document.line_count == 25
        await pilot.press("ctrl+right_square_bracket")
        await pilot.pause()
        assert app.editor.text == ""


@pytest.mark.parametrize("key", ["ctrl+x", "ctrl+k"])
async def test_the_last_line_below_a_folded_paste_can_be_deleted(key: str) -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await paste(pilot, LINES)
        await pilot.press("ctrl+j")
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        assert app.editor.text.rstrip("\n") == "[pasted 120 lines]"
