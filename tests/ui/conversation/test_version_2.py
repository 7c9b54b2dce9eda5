"""A conversation in version 2 of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Terminal, ToolCall
from tests.support.conversation_ui import agent, open_conversation_ui, own_agent

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi

OF_VERSION_2 = ("--command", agent("version_2", "speaks"), "--protocol", "2")


async def test_a_command_is_asked_about_with_its_folder_and_allowed(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, *OF_VERSION_2) as ui:
        await ui.send("ask")
        await ui.asked()
        await ui.sees("asks to run a command", "Run make?", "❯ make", "directory")
        await ui.press("a")
        await ui.sees("✔ allowed: run `make` in /", '"optionId": "yes"')
        await ui.until(lambda: ui.session.phase == "idle")


async def test_a_patch_that_is_replaced_while_it_is_asked_about_is_asked_about_again(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with open_conversation_ui(tmp_path, *OF_VERSION_2) as ui:
        await ui.send(f"swap {go}")
        await ui.asked()
        await ui.sees("harmless")
        go.touch()
        await ui.sees("the agent has changed this call", "harmful")
        await ui.asked()
        await ui.press("a")
        await ui.sees('"optionId": "yes"')


async def test_one_tool_call_or_command_is_stopped_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, *OF_VERSION_2) as ui:
        for words, kind in (("work", ToolCall), ("command", Terminal)):
            await ui.send(words)
            entry = await started(ui, kind)
            ui.transcript.focus()
            ui.transcript.cursor = entry.id
            await ui.press("x")
            await ui.until(lambda: ui.session.phase == "idle")
            assert entry.ended_at is not None
            assert ui.session.stop_reason == "end_turn"


async def started(ui: ConversationUi, kind: type[ToolCall | Terminal]) -> ToolCall | Terminal:
    """Wait for the first entry of a kind."""

    def found() -> list[ToolCall | Terminal]:
        return [entry for entry in ui.session.entries if isinstance(entry, kind)]

    await ui.until(lambda: bool(found()))
    return found()[0]


async def test_the_session_pane_names_the_version_and_says_what_it_means(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, *OF_VERSION_2, size=(160, 50)) as ui:
        ui.screen.panes.open(focus=True, first="session")
        await ui.sees("protocol", "In version 2, the agent itself")


async def test_a_restart_and_a_resumed_session_keep_the_version(tmp_path: Path, home: Path) -> None:
    name = own_agent(home, 'protocol = "2"', "version_2", "speaks")
    async with open_conversation_ui(tmp_path, name) as ui:
        await ui.send("hello")
        await ui.sees("you said hello")
        await ui.press("f5")
        await ui.sees("Agent restarted")
        await ui.until(lambda: ui.session.phase == "idle")
        assert ui.session.dialect == "v2"
        session = ui.made[0].conversation.folder.id
        assert session is not None
    async with open_conversation_ui(tmp_path, "--resume", session) as ui:
        await ui.sees("you said hello")
        assert ui.session.dialect == "v2"
