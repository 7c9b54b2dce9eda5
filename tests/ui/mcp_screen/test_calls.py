"""Calls of tools by hand on the MCP screen, with real servers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.mcp.handlers import ElicitationRequest
from acp_tui.ui.screens.mcp.elicitation_dialogs import ElicitationDialogs
from acp_tui.ui.screens.mcp.tabs.tool_call_screen import ToolCallScreen
from tests.ui.mcp_screen.conftest import open_screen

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open
    from tests.support.mcp_servers import ServerLog
    from tests.ui.mcp_screen.conftest import AddServer


async def choose_tool(ui: ConversationUi, name: str) -> None:
    """Test the server and open the form of one of its tools."""
    screen = await open_screen(ui)
    await ui.press("t")
    await ui.sees("echo")
    await ui.press("tab")
    screen.offers.choose(name)
    await ui.press("enter")
    await ui.sees(f"Call {name}", 'MCP server "files"')


async def send_form(ui: ConversationUi) -> None:
    await ui.press("ctrl+s")
    await ui.sees("Send this")
    await ui.press("enter")
    await ui.until(lambda: "Send this" not in ui.text())


async def test_a_call_shows_its_result_and_is_listed(open_ui: Open, add_server: AddServer) -> None:
    add_server("files")
    async with open_ui() as ui:
        await choose_tool(ui, "echo")
        await ui.press(*"hello")
        await send_form(ui)
        await ui.sees("files › echo", '{"text": "hello"}', "✔")
        await ui.press("escape", "4")
        await ui.sees("calls 1", "✔ echo", "you")
        call = ui.session.mcp_calls[0]
        assert (call.server, call.tool, call.by) == ("files", "echo", "you")
        assert call.raw_arguments == {"text": "hello"}
        await ui.press("enter")
        await ui.sees("arguments", "hello", "files › echo")


async def test_a_question_of_the_server_is_shown_in_a_form(open_ui: Open, add_server: AddServer) -> None:
    add_server("files")
    async with open_ui() as ui:
        await choose_tool(ui, "ask")
        await send_form(ui)
        await ui.sees("Who are you?", 'MCP server "files"')
        await ui.until(lambda: "keys work once" not in ui.text())
        await ui.press("f8")
        await ui.sees("files › ask", '{"action": "decline"}')


async def test_a_page_that_a_server_wants_to_open_is_shown_with_its_host(
    open_ui: Open, add_server: AddServer
) -> None:
    add_server("files")
    async with open_ui() as ui:
        screen = await open_screen(ui)
        dialogs = ElicitationDialogs(screen, lambda: screen.palette)
        text = "Trust me.\n" * 50
        request = ElicitationRequest("files", text, "url", url="https://bank.example@evil.example/x")
        answer = asyncio.create_task(dialogs.ask(request))
        await ui.sees("host         evil.example", "https://bank.example@evil.example/x", "is not the host")
        await ui.until(lambda: "keys work once" not in ui.text())
        await ui.press("escape")
        assert (await answer).action == "cancel"
        answer = asyncio.create_task(dialogs.ask(replace(request, url="javascript:alert(1)")))
        await ui.sees("javascript:alert(1). acp-tui declined")
        assert (await answer).action == "decline"


async def test_a_running_call_is_cancelled(
    open_ui: Open, add_server: AddServer, server_log: ServerLog
) -> None:
    add_server("files")
    async with open_ui() as ui:
        await choose_tool(ui, "wait")
        await ui.press(*"never")
        await send_form(ui)
        await ui.until(lambda: isinstance(ui.app.screen, ToolCallScreen))
        await ui.sees("cancel the call", "0")
        await ui.press("escape")
        await ui.sees("⊘", "close")
        await ui.until(lambda: "notifications/cancelled" in server_log.methods())
        assert ui.session.mcp_calls[0].error == "You cancelled the call."
