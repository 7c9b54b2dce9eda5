"""A conversation whose settings define MCP servers, and its MCP screen."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
from tests.support.mcp_servers import stdio_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi

__all__ = ["AddServer", "open_screen"]


class AddServer(Protocol):
    """Adds a server to the settings."""

    def __call__(self, name: str, *command: str) -> None: ...


@pytest.fixture
def add_server(home: Path) -> AddServer:
    """Add servers to the settings: the one for tests with options, or any other command."""
    file = home / "config" / "config.toml"

    def add(name: str, *options: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        command = list(options) if options[:1] == (sys.executable,) else stdio_command(*options, name=name)
        before = file.read_text() if file.exists() else ""
        program, args = json.dumps(command[0]), json.dumps(command[1:])
        file.write_text(f"{before}[mcp_servers.{name}]\ncommand = {program}\nargs = {args}\n")

    return add


async def open_screen(ui: ConversationUi) -> McpScreen:
    """Open the MCP screen of a conversation, and wait until it has read the servers."""
    await ui.ready()
    await ui.press("ctrl+n")
    await ui.until(lambda: isinstance(ui.app.screen, McpScreen) and ui.app.screen.state.loaded)
    assert isinstance(ui.app.screen, McpScreen)
    return ui.app.screen
