"""Two conversations in one app, each in a Textual mode of its own: neither disturbs the other."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.screens.dialogs.confirm import ConfirmScreen
from acp_tui.ui.terminal.window_title import RESTORE_TITLE, WindowTitle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from acp_tui.ui.screens.conversation.conversation_screen import ConversationScreen
    from tests.support.conversation_ui import ConversationUi, Open

ASK = ["permission", {"toolCallId": "call", "title": "Run the tests"}]


@asynccontextmanager
async def second_in_front(ui: ConversationUi) -> AsyncIterator[ConversationScreen]:
    """Show a second conversation with the same kind of agent; the first goes on behind it."""
    second = cast("ConversationScreen", ui.app._make_first_screen(ui.app.palette))
    second.mode = "second"
    ui.app.add_mode(second.mode, lambda: second)
    await ui.app.switch_mode(second.mode)
    await ui.until(lambda: second.session.phase == "idle")
    try:
        yield second
    finally:
        await second.leave()


async def go_back(ui: ConversationUi) -> None:
    await ui.app.switch_mode(ui.app.DEFAULT_MODE)
    await ui.pilot.pause()


async def test_a_question_waits_until_its_conversation_is_in_front(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        async with second_in_front(ui) as second:
            first.runner.prompts.submit('[["permission", {"title": "Run the tests"}]]')
            await ui.until(first.is_asking)
            assert ui.app.screen is second
            assert not second.is_asking()
            await go_back(ui)
            await ui.asked()
            await ui.press("a")
            await ui.until(lambda: first.session.phase == "idle")


async def test_a_dialog_withdrawn_in_the_background_closes_on_return(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        await ui.send(ASK)
        await ui.asked()
        async with second_in_front(ui) as second:
            first.runner.stop_turn()
            await ui.until(lambda: not first.is_asking())
            assert ui.app.screen is second
            await go_back(ui)
            await ui.until(lambda: ui.app.screen is first)


async def test_each_conversation_asks_its_own_question(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        await ui.send(ASK)
        await ui.asked()
        async with second_in_front(ui) as second:
            await ui.send(ASK)
            dialog = await ui.asked()
            await ui.press("a")
            await ui.until(lambda: second.session.phase == "idle")
            assert first.is_asking()
            await go_back(ui)
            assert isinstance(ui.app.screen, PermissionScreen)
            assert ui.app.screen is not dialog


async def test_a_dialog_opens_over_its_own_conversation(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        async with second_in_front(ui) as second:
            answer = ui.app.run_worker(first.confirm("Attach it?", yes="Yes", no="No"))
            await ui.pilot.pause()
            assert ui.app.screen is second
            await go_back(ui)
            await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
            await ui.press("down", "enter")
            assert await answer.wait() is True


async def test_only_the_conversation_in_front_sets_the_window_title(open_ui: Open, monkeypatch: Any) -> None:
    async with open_ui() as ui:
        first = ui.screen
        async with second_in_front(ui) as second:
            owners: list[object] = []
            monkeypatch.setattr(ui.app.window_title, "show", lambda owner, _: owners.append(owner))
            first.runner.prompts.submit("hello")
            await ui.until(lambda: first.session.turn == 1)
            await ui.until(lambda: first.session.phase == "idle")
            assert first._attention not in owners
            second.update_status()
            assert owners[-1] is second._attention


def test_the_window_title_is_restored_when_its_last_owner_releases_it() -> None:
    sent: list[str] = []
    title = WindowTitle(sent.append)
    title.show("first", "one")
    title.show("second", "two")
    title.release("first")
    assert RESTORE_TITLE not in sent
    title.release("second")
    assert sent[-1] == RESTORE_TITLE


async def test_leaving_one_conversation_keeps_the_other(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        async with second_in_front(ui) as second:
            await second.leave()
            await go_back(ui)
            assert first.session.phase == "idle"
            await ui.send("hello")
            await ui.until(ui.said)
