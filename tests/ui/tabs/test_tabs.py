"""Opening, showing, naming and closing tabs."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, cast

from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import read_session
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.rename_dialog import RenameDialog
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.tabs.tab_strip import TabStrip
from acp_tui.ui.terminal import gc_control
from tests.support.conversation_ui import offers
from tests.support.waiting import until
from tests.ui.tabs.test_several_conversations import open_second

if TYPE_CHECKING:
    import pytest
    from textual.screen import Screen

    from acp_tui.session.record import Record
    from acp_tui.ui.conversation.conversation_screen import ConversationScreen
    from tests.support.conversation_ui import ConversationUi, Open


def strip(ui: ConversationUi) -> str:
    """Return the row of tabs; empty if there is none."""
    current = ui.app.tabs.current
    assert current is not None
    return "".join(widget.render_line(0).text.rstrip() for widget in current.screen.query(TabStrip))


async def test_the_launcher_opens_a_conversation_in_a_new_tab(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        assert strip(ui) == ""
        await ui.press("ctrl+t")
        await ui.until(lambda: isinstance(ui.app.screen, LauncherScreen) and ui.app.screen._shown)
        assert ui.lines()[0].startswith(" New tab  ")
        await ui.press(*"demo", "enter")
        await ui.until(lambda: len(ui.app.tabs) == 2 and ui.session.phase == "idle")
        await ui.until(lambda: strip(ui) == " 1 scripted  2 Demo agent")
        assert ui.screen is not first
        await ui.press("alt+left")
        assert ui.screen is first
        await ui.press("ctrl+pagedown", "ctrl+pagedown")
        assert ui.screen is first


async def test_a_tab_is_marked_until_its_end_was_seen_or_if_its_agent_is_dead(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        first.runner.prompts.submit('[["wait_for_cancel"]]')
        await ui.until(lambda: "1 ● scripted" in strip(ui))
        first.runner.stop_turn()
        await ui.until(lambda: "1 ✔ scripted +" in strip(ui))
        drawn = len(first.transcript.entry_layout)
        await ui.press("alt+1")
        await ui.until(lambda: strip(ui) == " 1 scripted  2 scripted")
        assert len(first.transcript.entry_layout) == len(first.session.entries) > drawn
        assert second.transcript.following
        await ui.press("alt+2")
        first.runner.prompts.submit('[["exit", 3]]')
        await ui.until(lambda: "1 ✘ scripted" in strip(ui))
        await ui.send("hello")  # the others go on
        await ui.until(lambda: ui.said() == ["hello"])


async def test_a_tab_replaced_behind_another_is_shown_as_replaced(open_ui: Open) -> None:
    async with open_ui() as ui:
        second = await open_second(ui)
        await ui.send(["wait_for_cancel"])
        await ui.press("alt+1")
        await ui.until(lambda: "2 ● scripted" in strip(ui))
        third = cast("ConversationScreen", ui.app._make_first_screen())
        await ui.app.tabs.replace(second, third)
        await ui.until(lambda: "●" not in strip(ui))
        await ui.press("alt+2")
        await ui.until(lambda: third.session.phase == "idle")


async def test_closing_a_tab_ends_its_agent_and_after_the_last_tab_comes_the_launcher(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        await ui.press("alt+w")
        await ui.until(lambda: second.session.phase == "dead" and not second.is_attached)
        assert ui.screen is first
        assert strip(ui) == ""
        await ui.press("alt+w")
        await ui.until(lambda: isinstance(ui.app.screen, LauncherScreen))
        await ui.until(lambda: ui.made[0].conversation.session.phase == "dead")
        await ui.press("escape")
        await ui.until(lambda: ui.app._exit)


async def test_the_memory_of_a_closed_tab_is_freed(open_ui: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc_control, "FREE_DELAYS_SECONDS", (0.5,) * 100)
    async with open_ui() as ui:
        screen = weakref.ref(await open_second(ui))
        await ui.send("hello")
        await ui.until(lambda: ui.said() == ["hello"])
        await ui.press("alt+w")
        await ui.until(lambda: len(ui.app.tabs) == 1)
        ui.made.clear()
        await ui.until(lambda: screen() is None)


async def test_closing_a_working_tab_asks_first(open_ui: Open) -> None:
    async with open_ui() as ui:
        await open_second(ui)
        await ui.send(["wait_for_cancel"])
        await ui.until(lambda: ui.session.working)
        await ui.press("alt+w")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
        await ui.press("escape")
        await ui.press("ctrl+q")
        await ui.until(lambda: any("1 agent is still working" in toast for toast in ui.toasts()))
        assert len(ui.app.tabs) == 2
        await ui.press("alt+w")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
        await ui.press("down", "enter")
        await ui.until(lambda: len(ui.app.tabs) == 1)


async def closed_with(open_ui: Open, **capabilities: Any) -> list[str]:
    """Return the methods called from closing a tab on, for an agent with these capabilities."""
    async with open_ui("script", offers(capabilities=capabilities)) as ui:
        conversation = ui.made[0].conversation
        sent: list[str] = []

        def note(record: Record, *_: object) -> None:
            if record.direction == "sent" and "method" in record.frame:
                sent.append(record.frame["method"])

        conversation.listen(note)
        await ui.press("alt+w")
        await ui.until(lambda: conversation.session.phase == "dead")
        return sent


async def test_the_session_is_closed_where_the_agent_supports_it(open_ui: Open) -> None:
    assert await closed_with(open_ui, sessionCapabilities={"close": {}}) == ["session/close"]


async def test_the_session_is_not_closed_where_the_agent_does_not_support_it(open_ui: Open) -> None:
    assert await closed_with(open_ui, sessionCapabilities={"resume": {}}) == []


async def test_a_name_is_shown_and_saved(open_ui: Open) -> None:
    async with open_ui() as ui:
        await open_second(ui)
        await ui.press("alt+n")
        await ui.until(lambda: isinstance(ui.app.screen, RenameDialog))
        await ui.press(*"Docs", "enter")
        await ui.until(lambda: strip(ui) == " 1 scripted  2 Docs")
        path = ui.made[1].conversation.folder.path
        assert path is not None
        assert session_title(read_session(path), UnsentWork(paths().state)) == "Docs"
        await ui.press("alt+n")
        await ui.until(lambda: isinstance(ui.app.screen, RenameDialog))
        await ui.press("backspace", "enter")  # the name is selected
        await ui.until(lambda: strip(ui) == " 1 scripted  2 scripted")


async def test_a_tab_that_cannot_be_laid_out_or_started_closes_and_the_others_go_on(
    open_ui: Open, unexpected_errors: list[BaseException]
) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        ui.app._handle_exception(layout_error(second))
        await until(lambda: len(ui.app.tabs) == 1)
        assert isinstance(unexpected_errors.pop(), ZeroDivisionError)
        third = cast("ConversationScreen", ui.app._make_first_screen())
        await ui.app.tabs.open_tab(third)
        third.post_message(third.Failed(third, UserError("No such agent.")))
        await ui.until(lambda: len(ui.app.tabs) == 1 and "No such agent." in ui.toasts())
        await ui.send("hello")
        await ui.until(lambda: ui.said() == ["hello"])
        assert ui.screen is first


def layout_error(screen: Screen[Any]) -> ZeroDivisionError:
    """Return an error that was raised while the screen was laid out."""

    def _refresh_layout(self: Screen[Any]) -> float:
        return 1 / (self.size.width * 0)

    try:
        _refresh_layout(screen)
    except ZeroDivisionError as error:
        return error
    raise AssertionError


async def test_the_overview_shows_all_tabs_and_goes_to_one(open_ui: Open) -> None:
    async with open_ui() as ui:
        first = ui.screen
        second = await open_second(ui)
        first.runner.prompts.submit('[["wait_for_cancel"]]')
        await ui.until(lambda: first.session.working)
        await ui.press("alt+o")
        await ui.sees("2 open · 1 working · 0 waiting", "1 ● scripted", "2 ○ scripted")
        first.runner.stop_turn()
        await ui.sees("0 working", "1 ✔ scripted")
        await ui.press("x")
        await ui.until(lambda: not second.is_attached and len(ui.app.tabs) == 1)
        await ui.press("alt+o", "enter")
        await ui.until(lambda: ui.app.screen is first)
