"""Who knows the keys does not wait for the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.events import Key
from textual.widgets import Input

if TYPE_CHECKING:
    from tests.support.desk import Desk, Open


async def at_once(desk: Desk, *keys: str) -> None:
    """Press keys, so quickly that nothing else happens between them."""
    for key in keys:
        desk.app.post_message(Key(key, key if len(key) == 1 else None))
    await desk.pilot.pause()


@pytest.mark.parametrize("key", ["slash", "ctrl+f", "ctrl+p"])
async def test_also_after_a_key_in_the_conversation(open_desk: Open, key: str) -> None:
    async with open_desk() as desk:
        await desk.send("hello")
        await desk.until(desk.said)
        await desk.press("alt+up")
        await at_once(desk, key, *"hell")
        await desk.until(lambda: any(line.value == "hell" for line in desk.app.screen.query(Input)))
        assert desk.prompt.text == ""


@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+f", "ctrl+p"], ids=["history", "search", "palette"])
@pytest.mark.parametrize("time", ["first", "second"])
async def test_what_is_typed_after_the_key_that_opens_something_is_for_that(
    open_desk: Open, key: str, time: str
) -> None:
    async with open_desk() as desk:
        await desk.send("hello")
        await desk.until(desk.said)
        if time == "second":
            await desk.press(key, "escape")
            desk.prompt.focus()
        await desk.press("a")
        await at_once(desk, key, *"hell")
        await desk.until(lambda: any(line.value == "hell" for line in desk.app.screen.query(Input)))
        assert desk.prompt.text == "a"
