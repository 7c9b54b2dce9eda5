"""Two conversations in tabs: neither disturbs the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from acp_tui.session.state import Permission
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.tabs.tab_strip import TabStrip
from acp_tui.ui.terminal.passthrough import RESTORE_TITLE, WindowTitle
from acp_tui.ui.widgets.status_line import StatusLine
from tests.support.looks import DARK_ONLY, shown_colours

if TYPE_CHECKING:
    from acp_tui.ui.conversation.conversation_screen import ConversationScreen
    from tests.support.conversation_ui import ConversationUi, Open

ASK = ["permission", {"toolCallId": "call", "title": "Run the tests"}]


async def open_second(ui: ConversationUi) -> ConversationScreen:
    """Show a second conversation with the same kind of agent in a new tab; the first goes on behind it."""
    second = cast("ConversationScreen", ui.app._make_first_screen())
    await ui.app.tabs.open_tab(second)
    await ui.until(lambda: second.session.phase == "idle")
    return second


async def test_a_question_waits_until_its_conversation_is_in_front(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        first.runner.prompts.submit('[["permission", {"title": "Run the tests"}]]')
        await ui.until(first.is_asking)
        assert ui.app.screen is second
        assert not second.is_asking()
        await ui.until(lambda: "? 1 tab needs you" in ui.status())
        await ui.pilot.click(StatusLine, offset=(ui.status().index("1 tab needs you"), 0))
        await ui.asked()
        assert ui.screen is first
        await ui.press("a")
        await ui.until(lambda: first.session.phase == "idle")
        await ui.press("alt+2")
        await ui.until(lambda: ui.screen is second)
        await ui.pilot.click(TabStrip, offset=(3, 0))
        await ui.until(lambda: ui.screen is first)


async def test_a_new_rule_answers_what_waits_in_another_tab(open_ui: Open) -> None:
    ask = ["permission", {"title": "Test", "kind": "execute", "rawInput": {"command": "pytest -q"}}]
    async with open_ui() as ui:
        first = ui.screen
        await ui.send(ask)
        await ui.asked()
        await open_second(ui)
        await ui.send(ask)
        await ui.asked()
        await ui.press("A", "enter")
        await ui.until(lambda: ui.session.phase == first.session.phase == "idle")
        records = [entry for entry in first.session.entries if isinstance(entry, Permission)]
        assert [(record.by, record.outcome) for record in records] == [("rule", "selected")]


async def test_each_conversation_asks_its_own_question(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        await ui.send(ASK)
        await ui.asked()
        second = await open_second(ui)
        await ui.send(ASK)
        dialog = await ui.asked()
        await ui.press("a")
        await ui.until(lambda: second.session.phase == "idle")
        assert first.is_asking()
        await ui.press("alt+1")
        assert ui.dialog not in (None, dialog)
        await ui.press("alt+2")
        first.runner.stop_turn()
        await ui.until(lambda: not first.is_asking())
        assert ui.app.screen is second
        await ui.press("alt+1")  # closes the withdrawn dialog
        await ui.until(lambda: ui.app.screen is first)


async def test_a_dialog_opens_over_its_own_conversation(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        answer = ui.app.run_worker(first._dialogs.confirm("Attach it?", yes="Yes", no="No"))
        await ui.pilot.pause()
        assert ui.app.screen is second
        await ui.press("alt+1")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
        await ui.press("down", "enter")
        assert await answer.wait() is True


async def test_only_the_conversation_in_front_sets_the_window_title(open_ui: Open, monkeypatch: Any) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
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


async def test_a_new_theme_changes_the_tabs_and_dialogs_behind_the_current_tab(open_ui: Open) -> None:
    async with open_ui(options=("--theme", "dark")) as ui:
        first = ui.screen
        await ui.send(ASK)
        await ui.asked()
        await open_second(ui)
        ui.app.use_theme("light")
        await ui.until(lambda: not shown_colours(ui.app) & DARK_ONLY)
        await ui.press("alt+1")
        await ui.until(lambda: ui.dialog is not None and not shown_colours(ui.app) & DARK_ONLY)
        await ui.press("a")
        await ui.until(lambda: first.session.phase == "idle" and not shown_colours(ui.app) & DARK_ONLY)
