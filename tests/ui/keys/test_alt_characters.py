"""Alt keys in terminals that type characters for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.events import Key

from acp_tui.ui.keys import TABLE
from acp_tui.ui.keys.key_sequencer import alt_keys_of

if TYPE_CHECKING:
    from tests.support.conversation_ui import Open

BY_TAB_KEYS = {f"tab.{digit}" for digit in range(1, 10)}
"""Their tabs are reached with Ctrl+PgUp, Ctrl+PgDn and the overview."""


def test_every_action_with_an_alt_key_has_another_key() -> None:
    others = {key.title for key in TABLE if any("alt+" not in name for name in key.keys.split(","))}
    only_alt = [key for key in TABLE if all("alt+" in name for name in key.keys.split(","))]
    assert {key.id for key in only_alt if key.title not in others} <= BY_TAB_KEYS


@pytest.mark.parametrize(
    ("character", "keys"), [("÷", ("alt+w",)), ("∑", ("alt+w",)), ("±", ("alt+1",)), ("á", ()), ("w", ())]
)
def test_a_character_may_stand_for_an_alt_key(character: str, keys: tuple[str, ...]) -> None:
    assert alt_keys_of(character) == keys


async def test_the_character_of_a_bound_alt_key_is_explained_once(open_ui: Open) -> None:
    async with open_ui() as ui:
        ui.app.post_message(Key("÷", "÷"))
        await ui.until(lambda: ui.toasts() != [])
        assert 'This terminal types "÷" for Alt+W.' in ui.toasts()[0]
        ui.app.post_message(Key("∑", "∑"))  # another text: equal toasts are suppressed anyway
        await ui.until(lambda: ui.prompt.text == "÷∑")
        assert len(ui.toasts()) == 1
