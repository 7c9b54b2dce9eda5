"""Signing in to MCP servers on their screen, with a real authorization server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.events import Paste
from textual.widgets import Static

from acp_tui.mcp.sign_in.token_store import sign_in_state
from acp_tui.ui.screens.mcp.server_dialogs import SignInScreen
from acp_tui.ui.widgets.input_line import InputLine
from tests.mcp.sign_in.users import redirect_of
from tests.ui.screens.mcp.conftest import open_screen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open
    from tests.support.mcp_servers import HttpServers


@pytest.fixture
def url(home: Path, http_servers: HttpServers) -> str:
    """Return the URL of the server `calendar`, which wants a sign-in."""
    url = http_servers.url("/guarded/screen/mcp")
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(f'[mcp_servers.calendar]\nurl = "{url}"\n')
    return url


async def _asked(ui: ConversationUi) -> SignInScreen:
    """Choose to sign in, and return the dialog."""
    await ui.press("s")
    await ui.until(lambda: isinstance(ui.app.screen, SignInScreen))
    assert isinstance(ui.app.screen, SignInScreen)
    return ui.app.screen


async def test_escape_cancels_the_sign_in_and_the_address_or_the_code_is_pasted(
    open_ui: Open, url: str
) -> None:
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.press("t")
        await ui.sees("calendar requires sign-in: press s to sign in.")
        assert "acp-tui mcp sign-in" not in ui.text()
        await _asked(ui)
        await ui.press("escape")
        await ui.sees("You cancelled the sign-in.")
        assert sign_in_state(url) is None
        dialog = await _asked(ui)
        await ui.sees("Sign in to calendar", "127.0.0.1")
        await ui.paste("nonsense here")
        await ui.press("enter")
        await ui.sees("This is neither a code nor the address of the page after the sign-in")
        address = str(dialog.query_one("#address", Static).content)
        dialog.query_one(InputLine).post_message(Paste(await redirect_of(address)))
        await ui.until(lambda: dialog.query_one(InputLine).value)
        await ui.press("enter")
        await ui.sees("connected · MCP", "echo")
        state = sign_in_state(url)
        assert state is not None
        assert state.is_valid()


async def test_another_service_on_this_machine_is_asked_about(
    open_ui: Open, home: Path, http_servers: HttpServers
) -> None:
    options = f"authorization_servers@localhost:{http_servers.port}"
    url = http_servers.url(f"/guarded/{options}/mcp")
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(f'[mcp_servers.calendar]\nurl = "{url}"\n')
    async with open_ui() as ui:
        await open_screen(ui)
        await ui.press("s")
        await ui.sees("asks acp-tui to sign in at", "Send requests there?", "Stop signing in")
        await ui.press("enter")
        await ui.sees("which you did not allow")
