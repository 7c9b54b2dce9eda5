"""Prompts and resources of MCP servers in the input of a conversation, and servers in the session pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
from tests.ui.screens.mcp.conftest import open_screen
from tests.ui.screens.mcp.test_calls import send_form

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open
    from tests.support.mcp_servers import ServerLog
    from tests.ui.screens.mcp.conftest import AddServer


async def know_server(ui: ConversationUi) -> None:
    """Test the server on the screen, and go back to the conversation."""
    await open_screen(ui)
    await ui.press("t")
    await ui.sees("17 tools")
    await ui.press("escape")
    await ui.until(lambda: not isinstance(ui.app.screen, McpScreen))


async def test_prompts_and_resources_of_a_server_are_put_into_the_input(
    open_ui: Open, add_server: AddServer, server_log: ServerLog
) -> None:
    add_server("files")
    async with open_ui() as ui:
        await know_server(ui)
        await ui.until(lambda: any(one.name == "files:greet" for one in ui.prompt.commands))
        await ui.paste("/files:g")
        await ui.sees("/files:greet", "name [style]", "Write a greeting.")
        await ui.press("tab", *"Ada", "enter")
        await ui.sees("Prompt greet", 'MCP server "files"', "Who is greeted")
        await send_form(ui)
        await ui.until(lambda: ui.prompt.text == "Write a friendly greeting for Ada.")
        ui.prompt.load("")
        await ui.paste("see @files:test://re")
        await ui.sees("files:test://readme")
        started = len(server_log.messages())
        await ui.press("enter")
        assert len(server_log.messages()) == started  # the server is started when the prompt is sent
        await ui.press("enter")
        await ui.until(lambda: ui.prompts())
        assert ui.prompts() == ["see @files:test://readme \nThe text of test://readme\n"]


async def test_the_session_pane_leads_to_a_server(open_ui: Open, add_server: AddServer) -> None:
    add_server("files")
    add_server("docs")
    async with open_ui() as ui:
        await ui.ready()
        await ui.press("ctrl+b", "4")
        await ui.sees("MCP servers", "sent to the agent")
        pane = ui.screen.panes.created
        assert pane is not None
        pane.current.choose("mcp server: docs")
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, McpScreen) and ui.app.screen.state.loaded)
        assert isinstance(ui.app.screen, McpScreen)
        assert ui.app.screen.state.chosen is not None
        assert ui.app.screen.state.chosen.server.name == "docs"
        await ui.press("t")
        await ui.sees("17 tools")
        await ui.press("escape")
        await ui.sees("tested")
