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
    from tests.support.desk import Desk, Open

ASK = ["permission", {"toolCallId": "call", "title": "Run the tests"}]


@asynccontextmanager
async def second_in_front(desk: Desk) -> AsyncIterator[ConversationScreen]:
    """Show a second conversation with the same kind of agent; the first goes on behind it."""
    second = cast("ConversationScreen", desk.app._make_first_screen(desk.app.palette))
    second.mode = "second"
    desk.app.add_mode(second.mode, lambda: second)
    await desk.app.switch_mode(second.mode)
    await desk.until(lambda: second.session.phase == "idle")
    try:
        yield second
    finally:
        await second.leave()


async def go_back(desk: Desk) -> None:
    await desk.app.switch_mode(desk.app.DEFAULT_MODE)
    await desk.pilot.pause()


async def test_a_question_waits_until_its_conversation_is_in_front(open_desk: Open) -> None:
    async with open_desk() as desk:
        first = desk.screen
        async with second_in_front(desk) as second:
            first.runner.prompts.submit('[["permission", {"title": "Run the tests"}]]')
            await desk.until(first.is_asking)
            assert desk.app.screen is second
            assert not second.is_asking()
            await go_back(desk)
            await desk.asked()
            await desk.press("a")
            await desk.until(lambda: first.session.phase == "idle")


async def test_a_dialog_of_a_question_that_was_withdrawn_meanwhile_closes_on_return(open_desk: Open) -> None:
    async with open_desk() as desk:
        first = desk.screen
        await desk.send(ASK)
        await desk.asked()
        async with second_in_front(desk) as second:
            first.runner.stop_turn()
            await desk.until(lambda: not first.is_asking())
            assert desk.app.screen is second
            await go_back(desk)
            await desk.until(lambda: desk.app.screen is first)


async def test_each_conversation_asks_its_own_question(open_desk: Open) -> None:
    async with open_desk() as desk:
        first = desk.screen
        await desk.send(ASK)
        await desk.asked()
        async with second_in_front(desk) as second:
            await desk.send(ASK)
            dialog = await desk.asked()
            await desk.press("a")
            await desk.until(lambda: second.session.phase == "idle")
            assert first.is_asking()
            await go_back(desk)
            assert isinstance(desk.app.screen, PermissionScreen)
            assert desk.app.screen is not dialog


async def test_a_dialog_opens_over_its_own_conversation(open_desk: Open) -> None:
    async with open_desk() as desk:
        first = desk.screen
        async with second_in_front(desk) as second:
            answer = desk.app.run_worker(first.confirm("Attach it?", yes="Yes", no="No"))
            await desk.pilot.pause()
            assert desk.app.screen is second
            await go_back(desk)
            await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen))
            await desk.press("down", "enter")
            assert await answer.wait() is True


async def test_only_the_conversation_in_front_sets_the_window_title(
    open_desk: Open, monkeypatch: Any
) -> None:
    async with open_desk() as desk:
        first = desk.screen
        async with second_in_front(desk) as second:
            owners: list[object] = []
            monkeypatch.setattr(desk.app.window_title, "show", lambda owner, _: owners.append(owner))
            first.runner.prompts.submit("hello")
            await desk.until(lambda: first.session.turn == 1)
            await desk.until(lambda: first.session.phase == "idle")
            assert first._attention not in owners
            second.update_status()
            assert owners[-1] is second._attention


def test_the_window_title_is_restored_when_its_last_owner_lets_go() -> None:
    sent: list[str] = []
    title = WindowTitle(sent.append)
    title.show("first", "one")
    title.show("second", "two")
    title.release("first")
    assert RESTORE_TITLE not in sent
    title.release("second")
    assert sent[-1] == RESTORE_TITLE


async def test_leaving_one_conversation_keeps_the_other(open_desk: Open) -> None:
    async with open_desk() as desk:
        first = desk.screen
        async with second_in_front(desk) as second:
            await second.leave()
            await go_back(desk)
            assert first.session.phase == "idle"
            await desk.send("hello")
            await desk.until(desk.said)
