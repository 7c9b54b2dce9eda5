"""Keys pressed faster than the screen reacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.events import Key
from textual.widgets import Input

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open


async def at_once(ui: ConversationUi, *keys: str) -> None:
    """Press keys so quickly that nothing is processed in between."""
    for key in keys:
        ui.app.post_message(Key(key, key if len(key) == 1 else None))
    await ui.pilot.pause()


async def receives(ui: ConversationUi, text: str) -> None:
    """Wait until a line for input holds the text."""
    await ui.until(lambda: any(line.value == text for line in ui.app.screen.query(Input)))


async def test_keys_after_one_in_the_transcript_go_to_what_it_opens(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send("hello")
        await ui.until(ui.said)
        for key in ("slash", "ctrl+f", "ctrl+p"):
            await ui.press("alt+up")
            await at_once(ui, key, *"hell")
            await receives(ui, "hell")
            assert ui.prompt.text == ""
            await ui.press("escape")


@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+f", "ctrl+p"], ids=["history", "search", "palette"])
async def test_keys_after_one_in_the_prompt_go_to_what_it_opens(open_ui: Open, key: str) -> None:
    async with open_ui() as ui:
        await ui.send("hello")
        await ui.until(ui.said)
        for time in ("first", "second"):
            ui.prompt.load("")
            ui.prompt.focus()
            await ui.press("a")
            await at_once(ui, key, *time)
            await receives(ui, time)
            assert ui.prompt.text == "a"
            await ui.press("escape")
