"""Who knows the keys does not wait for the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.events import Key
from textual.widgets import Input

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open


async def at_once(ui: ConversationUi, *keys: str) -> None:
    """Press keys, so quickly that nothing else happens between them."""
    for key in keys:
        ui.app.post_message(Key(key, key if len(key) == 1 else None))
    await ui.pilot.pause()


@pytest.mark.parametrize("key", ["slash", "ctrl+f", "ctrl+p"])
async def test_also_after_a_key_in_the_conversation(open_ui: Open, key: str) -> None:
    async with open_ui() as ui:
        await ui.send("hello")
        await ui.until(ui.said)
        await ui.press("alt+up")
        await at_once(ui, key, *"hell")
        await ui.until(lambda: any(line.value == "hell" for line in ui.app.screen.query(Input)))
        assert ui.prompt.text == ""


@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+f", "ctrl+p"], ids=["history", "search", "palette"])
@pytest.mark.parametrize("time", ["first", "second"])
async def test_what_is_typed_after_the_key_that_opens_something_is_for_that(
    open_ui: Open, key: str, time: str
) -> None:
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
