"""Calls of tools by hand on the MCP screen, with real servers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from acp_tui.mcp.callbacks import ElicitationRequest
from acp_tui.ui.schema_form.dialog import SchemaFormDialog
from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
from acp_tui.ui.screens.mcp.server_dialogs import ElicitationDialogs
from acp_tui.ui.screens.mcp.tool_call_screen import ToolCallScreen
from tests.ui.screens.mcp.conftest import open_screen
from tests.ui.tabs.test_several_conversations import open_second

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open
    from tests.support.mcp_servers import ServerLog
    from tests.ui.screens.mcp.conftest import AddServer


async def call_tool(ui: ConversationUi, name: str, text: str = "") -> None:
    """Fill in the form of a tool of the tested server, and send it."""
    assert isinstance(ui.app.screen, McpScreen)
    ui.app.screen.offers.choose(name)
    await ui.press("enter")
    await ui.sees(f"Call {name}", 'MCP server "files"')
    if text:
        await ui.paste(text)
    await send_form(ui)


async def send_form(ui: ConversationUi) -> None:
    await ui.press("ctrl+s")
    await ui.sees("Send this")
    await ui.press("enter")
    await ui.until(lambda: "Send this" not in ui.text())


async def test_calls_show_their_results_and_are_listed(
    open_ui: Open, add_server: AddServer, server_log: ServerLog
) -> None:
    add_server("files")
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.press("t")
        await ui.sees("echo")
        await ui.press("tab")
        await call_tool(ui, "echo", "hello")
        await ui.sees("files › echo", '{"text": "hello"}', "✔")
        await ui.press("escape")
        await call_tool(ui, "wait", "never")
        await is_running_and_cancelled(ui, server_log)
        screen = ui.app.screen
        assert isinstance(screen, McpScreen)
        screen.offers.choose("ask")
        await ui.press("enter")
        await ui.sees("Call ask of the MCP server", "It takes no arguments.", "❯ Cancel")
        await ui.press("down", "enter")
        await asks_who_you_are(ui)
        await ui.press("escape", "4")
        await ui.sees("calls 3", "✔ echo", "you")
        call = ui.session.mcp_calls[0]
        assert (call.server, call.tool, call.by) == ("files", "echo", "you")
        assert call.raw_arguments == {"text": "hello"}
        await ui.press("end", "enter")
        await ui.sees("arguments", "hello", "files › echo")


async def test_a_form_that_cannot_be_drawn_is_closed_and_calls_nothing(
    open_ui: Open,
    add_server: AddServer,
    server_log: ServerLog,
    monkeypatch: pytest.MonkeyPatch,
    unexpected_errors: list[BaseException],
) -> None:
    def broken(self: SchemaFormDialog) -> None:
        raise RuntimeError("broken")

    add_server("files")
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.press("t")
        await ui.sees("echo")
        monkeypatch.setattr(SchemaFormDialog, "compose", broken)
        await ui.press("tab", "enter")
        await ui.until(lambda: unexpected_errors and isinstance(ui.app.screen, McpScreen))
        await ui.until(lambda: not [one for one in ui.app.workers if one.group == "call"])
    assert not [error for error in unexpected_errors if isinstance(error, AttributeError)]
    assert "tools/call" not in server_log.methods()
    unexpected_errors.clear()


async def is_running_and_cancelled(ui: ConversationUi, server_log: ServerLog) -> None:
    await ui.until(lambda: isinstance(ui.app.screen, ToolCallScreen))
    await ui.sees("cancel the call", "0")
    await ui.press("escape")
    await ui.sees("⊘", "close")
    await ui.until(lambda: "notifications/cancelled" in server_log.methods())
    assert ui.session.mcp_calls[1].error == "You cancelled the call."
    await ui.press("escape")


async def asks_who_you_are(ui: ConversationUi) -> None:
    """The question of the server is shown in a form."""
    await ui.sees("Who are you?", 'MCP server "files"')
    await ui.until(lambda: "keys work once" not in ui.text())
    await ui.press("ctrl+n")
    await ui.sees("files › ask", '{"action": "decline"}')


async def test_a_page_that_a_server_wants_to_open_is_shown_with_its_host(
    open_ui: Open, add_server: AddServer
) -> None:
    add_server("files")
    async with open_ui() as ui:
        screen = await open_screen(ui)
        dialogs = ElicitationDialogs(screen)
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


@pytest.mark.parametrize("is_withdrawn", [False, True])
async def test_a_question_of_a_server_belongs_to_the_tab_of_its_screen(
    open_ui: Open, add_server: AddServer, is_withdrawn: bool
) -> None:
    add_server("files")
    async with open_ui() as ui:
        first = ui.screen
        screen = await open_screen(ui)
        second = await open_second(ui)
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        answer = asyncio.create_task(
            screen._questions.ask(ElicitationRequest("files", "Who are you?", "form", schema))
        )
        await ui.sees("An MCP server asks a question in another tab.")
        assert ui.app.screen is second
        if is_withdrawn:  # as when the server ends
            answer.cancel()
        await ui.press("alt+1")
        if is_withdrawn:
            await ui.until(lambda: ui.app.screen is screen)
        else:
            await ui.sees("Who are you?", 'MCP server "files"')
            await ui.until(lambda: "keys work once" not in ui.text())
            await ui.press("escape")
            assert (await answer).action == "cancel"
        assert first in ui.app.screen_stack
