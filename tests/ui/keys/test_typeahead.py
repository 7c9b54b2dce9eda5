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


@pytest.mark.parametrize("key", ["slash", "ctrl+f", "ctrl+p"])
async def test_keys_after_one_in_the_transcript_go_to_what_it_opens(open_ui: Open, key: str) -> None:
    async with open_ui() as ui:
        await ui.send("hello")
        await ui.until(ui.said)
        await ui.press("alt+up")
        await at_once(ui, key, *"hell")
        await ui.until(lambda: any(line.value == "hell" for line in ui.app.screen.query(Input)))
        assert ui.prompt.text == ""


@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+f", "ctrl+p"], ids=["history", "search", "palette"])
@pytest.mark.parametrize("time", ["first", "second"])
async def test_keys_after_one_in_the_prompt_go_to_what_it_opens(open_ui: Open, key: str, time: str) -> None:
    async with open_ui() as ui:
        await ui.send("hello")
        await ui.until(ui.said)
        if time == "second":
            await ui.press(key, "escape")
            ui.prompt.focus()
        await ui.press("a")
        await at_once(ui, key, *"hell")
        await ui.until(lambda: any(line.value == "hell" for line in ui.app.screen.query(Input)))
        assert ui.prompt.text == "a"
