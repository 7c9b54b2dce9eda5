"""Keys that arrive together, some of which change the tab or the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Key, Paste
from textual.keys import key_to_character

from acp_tui.session.state import UserMessage
from acp_tui.ui.dialogs import dialog
from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.screens.launcher import Filter, LauncherScreen
from tests.ui.tabs.test_several_conversations import open_second

if TYPE_CHECKING:
    import pytest

    from acp_tui.ui.conversation.conversation_screen import ConversationScreen
    from tests.support.conversation_ui import ConversationUi, Open


def burst(ui: ConversationUi, *keys: str) -> None:
    """Post keys as a terminal does that sends them in one write."""
    for key in keys:
        ui.app.post_message(Key(key, key if len(key) == 1 else key_to_character(key)))


def prompts(screen: ConversationScreen) -> list[str]:
    return [entry.text for entry in screen.session.entries if isinstance(entry, UserMessage)]


async def test_text_goes_to_the_tab_that_was_in_front_when_it_was_typed_or_pasted(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        second.prompt.focus()
        burst(ui, *"two", "alt+1", *"one", "enter", "alt+2", *"more", "alt+1", *"x")
        ui.app.post_message(Paste("pasted"))
        burst(ui, "alt+2", "y")
        await ui.until(lambda: second.prompt.text == "twomorey" and first.prompt.text == "xpasted")
        await ui.until(lambda: ui.app.screen is second and prompts(first) == ["one"])
        assert prompts(second) == []


async def test_text_after_the_key_for_a_new_tab_goes_to_the_filter(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        burst(ui, *"draft", "ctrl+t", *"demo")
        await ui.until(lambda: isinstance(ui.app.screen, LauncherScreen))
        await ui.until(lambda: ui.app.screen.query_one(Filter).value == "demo")
        assert first.prompt.text == "draft"


async def test_a_key_for_one_question_does_not_answer_another(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        for screen in (first, second):
            screen.runner.prompts.submit('[["permission", {"title": "Run the tests"}]]')
            await ui.until(screen.is_asking)
        await ui.asked()
        burst(ui, "alt+1", "alt+2")
        await ui.asked()
        burst(ui, "a", "alt+1")
        await ui.until(lambda: second.session.phase == "idle")
        assert first.is_asking()
        await ui.press("alt+2")
        monkeypatch.setattr(dialog, "PAUSE_SECONDS", 3600.0)
        burst(ui, "alt+a", "a")  # to the waiting tab
        await ui.until(lambda: isinstance(ui.app.screen, PermissionScreen))
        await ui.press("a")
        assert first.is_asking()
