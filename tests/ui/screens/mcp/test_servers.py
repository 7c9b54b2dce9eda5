"""The list of MCP servers and what is known about each, with real servers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mcp import MCPError

from acp_tui.config.paths import mcp_file
from acp_tui.config.settings import load
from acp_tui.store.own_mcp_servers import change_own_servers, read_own_servers
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from tests.support.mcp_servers import stdio_command
from tests.ui.screens.mcp.conftest import open_screen

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open
    from tests.support.mcp_servers import ServerLog
    from tests.ui.screens.mcp.conftest import AddServer


async def test_a_server_is_turned_off_for_new_sessions_without_being_started(
    open_ui: Open, add_server: AddServer, server_log: ServerLog
) -> None:
    add_server("files")
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.sees("● configured", "config.toml:1", "not tested by acp-tui", "● sent", "no call seen yet")
        await ui.press("space")
        await ui.sees("disabled", "● sent")
        assert [server.is_on for server in load(Path.cwd()).mcp_servers] == [False]
        await ui.press("space")
        await ui.sees("disconnected")
        assert server_log.messages() == []


async def test_a_test_lists_what_the_server_offers(open_ui: Open, add_server: AddServer) -> None:
    add_server("files")
    async with open_ui() as ui:
        screen = await open_screen(ui)
        await ui.press("t")
        await ui.sees("connected · MCP", "17 tools, 2 prompts", "echo", "Return the text.", "only reads")
        await ui.press("tab", "end")
        await ui.until(lambda: screen.offers.chosen == "crash")
        await ui.press("home")
        await ui.until(lambda: screen.offers.chosen == "echo")
        await ui.press("2")
        await ui.sees("greet", "name [style]")
        await ui.press("3")
        await ui.sees("test://readme", "template")
        await ui.press("5")
        await ui.sees("connected")
        await ui.press("escape")
        await ui.until(lambda: screen.focused is screen.servers)  # and the connection stays
        await ui.sees("1 of 1 connected")
        await ui.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))
        await ui.until(lambda: "1 MCP server still connected." in ui.toasts())
        await open_screen(ui)
        await ui.sees("1 of 1 connected", "● tested", "17 tools", "echo")
        assert "accept all" not in ui.text()
        await ui.press("x")
        await ui.sees("0 of 1 connected")


async def test_closing_a_conversation_ends_the_connections_of_its_mcp_screen(
    open_ui: Open, add_server: AddServer
) -> None:
    add_server("files")
    async with open_ui() as ui:
        screen = await open_screen(ui)
        await ui.press("t")
        await ui.sees("1 of 1 connected")
        await ui.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))
        assert isinstance(ui.app.screen, ConversationScreen)
        await ui.app.screen.leave()
        await ui.until(lambda: screen.live.connected == 0)


async def test_tools_are_filtered_by_words_in_their_name_or_description(
    open_ui: Open, add_server: AddServer
) -> None:
    add_server("files", "--tools", "1000")
    async with open_ui() as ui:
        screen = await open_screen(ui)
        await ui.press("t")
        await ui.sees("1,017 tools accepted")
        await ui.press("tab", "slash", *"Many tool-99")
        await ui.until(lambda: "tool-997" in ui.text() and "echo" not in ui.text())
        await ui.sees("Enter to the list", "Esc remove filter")
        await ui.press("enter", "end")
        await ui.until(lambda: screen.offers.chosen == "tool-999")
        await ui.press("slash", *"xyzzy")
        await ui.sees("No tools contain all these words.")
        await ui.press("escape")
        await ui.sees("echo")
        assert screen.focused is screen.offers


async def test_the_empty_list_says_how_to_add_a_server(open_ui: Open) -> None:
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.sees("No servers. Add one with")
        assert "␊" not in ui.text()


async def test_a_failure_says_why(open_ui: Open, add_server: AddServer) -> None:
    add_server(
        "broken", sys.executable, "-c", "import sys; print('no licence', file=sys.stderr); sys.exit(3)"
    )
    add_server("files")
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.press("T")
        await ui.sees("failed", "✘ tested", "exited with code 3", "licence.", "1 of 2 connected")
        await ui.sees("Press t to connect again.")
        assert ui.text().count("exited with code 3") == 1


async def test_a_changed_tool_is_marked_until_it_is_accepted_and_a_server_that_ends_has_failed(
    open_ui: Open, add_server: AddServer
) -> None:
    add_server("files")
    async with open_ui() as ui:
        screen = await open_screen(ui)
        await ui.press("t")
        await ui.sees("echo")
        known = screen.state.chosen
        assert known is not None
        connection = screen.live.get(known).connection
        assert connection is not None
        await connection.client.call_tool("change", {})
        await ui.sees("changed since you accepted it", "tools changed")
        await change_is_shown_and_accepted(ui)
        await ui.until(lambda: "tools changed" not in ui.text())
        with pytest.raises(MCPError):
            await connection.client.call_tool("crash", {})
        await ui.sees("failed", "files exited with code 3")


async def change_is_shown_and_accepted(ui: ConversationUi) -> None:
    await ui.press("tab", "home", "d")
    await ui.sees("changes since you accepted it")
    await ui.press("escape")
    await ui.press("tab", "a")
    await ui.until(lambda: "since you accepted" not in ui.text())


async def test_invisible_characters_are_shown_where_a_changed_tool_is_accepted(
    open_ui: Open, add_server: AddServer, tmp_path: Path
) -> None:
    options = tmp_path / "options"
    options.write_text("")
    run = f'exec "$@" $(cat {options})'
    add_server(
        "files",
        sys.executable,
        "-c",
        f"import os; os.execvp('sh', {['sh', '-c', run, 'sh', *stdio_command()]})",
    )
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.press("t")
        await ui.sees("17 tools accepted")
        options.write_text("--hidden")
        await ui.press("t")
        await ui.sees("changed since you accepted it")
        await ui.press("tab", "home", "d")
        await ui.sees("Return the text.‹e0053›‹200b›", '"description": "‹e0054›"')
        await ui.press("escape", "v")
        await ui.sees("Return the text.‹e0053›‹200b›", '"description": "‹e0054›"')


async def test_a_server_that_is_no_longer_in_mcp_toml_is_reported_in_a_sentence(open_ui: Open) -> None:
    change_own_servers(lambda own: own.servers.update({"files": {"command": "/bin/cat"}}))
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.sees("files", "stdio", "b bridge")
        change_own_servers(lambda own: own.servers.clear())
        await ui.press("b")
        sentence = f"The server files is no longer in {mcp_file()}."
        await ui.until(lambda: sentence in ui.toasts())


async def test_a_server_of_mcp_toml_is_given_through_the_bridge(open_ui: Open) -> None:
    change_own_servers(lambda own: own.servers.update({"files": {"command": "/bin/cat"}}))
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.sees("files", "stdio", "b bridge")
        await ui.press("b")
        await ui.until(lambda: read_own_servers().servers["files"].get("connection") == "bridge")
