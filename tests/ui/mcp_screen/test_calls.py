"""Calls of tools by hand on the MCP screen, with real servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.screens.mcp.tabs.tool_call_screen import ToolCallScreen
from tests.ui.mcp_screen.conftest import open_screen

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open
    from tests.ui.mcp_screen.conftest import AddServer


async def choose_tool(ui: ConversationUi, name: str) -> None:
    """Test the server and choose one of its tools."""
    screen = await open_screen(ui)
    await ui.press("t")
    await ui.sees("echo")
    await ui.press("tab")
    screen.offers.choose(name)
    await ui.press("enter")
    await ui.sees(f"Call {name}", 'MCP server "files"')


async def submit(ui: ConversationUi) -> None:
    """Send the form after the review."""
    await ui.press("ctrl+enter")
    await ui.sees("Send")
    await ui.press("enter")
    await ui.until(lambda: isinstance(ui.app.screen, ToolCallScreen))


async def test_a_call_shows_its_result_and_is_in_the_list_of_calls(
    open_ui: Open, add_server: AddServer
) -> None:
    add_server("files")
    async with open_ui() as ui:
        await choose_tool(ui, "echo")
        await ui.press(*"hello")
        await submit(ui)
        await ui.sees("files › echo", '{"text": "hello"}', "✔")
        await ui.press("escape", "4")
        await ui.sees("calls 1", "✔ echo", "you")
        call = ui.session.mcp_calls[0]
        assert (call.server, call.tool, call.raw_arguments, call.by) == (
            "files",
            "echo",
            {"text": "hello"},
            "you",
        )
        await ui.press("enter")
        await ui.sees("arguments", "hello", "files › echo")
