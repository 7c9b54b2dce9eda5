"""The actions of the MCP screen on the chosen server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.config.mcp import connection_for
from acp_tui.config.paths import mcp_file
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.store.own_mcp_servers import change_own_servers, switch_server
from acp_tui.ui.screens.mcp.sign_in_dialog import McpSignInDialogs

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.config.mcp import Connection
    from acp_tui.store.own_mcp_servers import OwnMcpServers
    from acp_tui.ui.screens.mcp.action_context import McpActionContext
    from acp_tui.ui.screens.mcp.live_servers import KnownServer


_OTHER_CONNECTION: dict[Connection, Connection] = {"direct": "bridge", "bridge": "direct"}


class ServerActions:
    """The actions on servers, and when each has an effect."""

    def __init__(self, parts: McpActionContext) -> None:
        self._screen = parts.screen
        self._context = parts.context
        self._live = parts.live
        self._state = parts.state
        self._reload = parts.reload
        self._show_error = parts.show_error

    # ------------------------------------------------------------------------- which keys act

    def is_enabled(self, action: str) -> bool | None:
        """Return whether an action has an effect now; None for actions that another class runs."""
        if action == "test_all":
            return any(one.can_start for one in self._state.servers)
        checks: dict[str, Callable[[KnownServer], bool]] = {
            "test": lambda known: known.can_start,
            "stop": lambda known: self._live.status(known) in ("connecting", "connected"),
            "edit": lambda _: self._context.edit_file is not None,
            "enable": lambda known: not known.withheld,
            "connection": lambda known: known.server.file == mcp_file(),
            "sign_in": self._may_sign_in,
            "sign_out": lambda known: known.signed_in,
        }
        known = self._state.chosen
        return known is not None and checks[action](known) if action in checks else None

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        known = self._state.chosen
        if known is None:
            return None
        match key_id:
            case "mcp.enable":
                return "disable" if known.server.is_on else "enable"
            case "mcp.connection":
                return _OTHER_CONNECTION[connection_for(known.server)]
            case "mcp.test" if self._live.status(known) == "connected":
                return "test again"
        return None

    # ------------------------------------------------------------------------- connecting

    def test(self) -> None:
        """Connect to the chosen server and list what it offers."""
        if (known := self._state.chosen) is not None and known.can_start:
            self._live.connect(known)

    def test_all(self) -> None:
        """Connect to all servers that may be started."""
        for known in self._state.servers:
            if known.can_start:
                self._live.connect(known)

    def disconnect(self) -> None:
        """Disconnect from the chosen server, or stop connecting."""
        if (known := self._state.chosen) is not None:
            self._live.disconnect(known)

    def edit_definition(self) -> None:
        """Open the file with the chosen server's definition in the editor."""
        known = self._state.chosen
        if known is not None and self._context.edit_file is not None:
            self._context.edit_file(str(known.server.file), known.server.line)
            self._reload()

    async def switch(self) -> None:
        """Enable or disable the chosen server for new sessions."""
        known = self._state.chosen
        if known is None:
            return
        on = not known.server.is_on
        try:
            await asyncio.to_thread(switch_server, known.server, enabled=on)
        except UserError as error:
            self._show_error(error)
            return
        if not on:
            self._live.disconnect(known)
        name = escape_invisible_line(known.server.name)
        self._screen.notify(f"{name} is {'enabled' if on else 'disabled'} for new sessions.", timeout=4)
        self._reload()

    async def choose_connection(self) -> None:
        """Switch the chosen server, which must be in `mcp.toml`, between bridge and direct connection."""
        known = self._state.chosen
        if known is None:
            return
        name, other = known.server.name, _OTHER_CONNECTION[connection_for(known.server)]

        def change(own: OwnMcpServers) -> None:
            if name not in own.servers:
                raise UserError(f"The server {escape_invisible_line(name)} is no longer in {mcp_file()}.")
            own.servers[name]["connection"] = other

        try:
            await asyncio.to_thread(change_own_servers, change)
        except UserError as error:
            self._show_error(error)
        else:
            way = "through the bridge" if other == "bridge" else "directly"
            self._screen.notify(f"New sessions connect to {escape_invisible_line(name)} {way}.", timeout=4)
        self._reload()

    # ------------------------------------------------------------------------- signing in

    def _may_sign_in(self, known: KnownServer) -> bool:
        from acp_tui.mcp.sign_in.token_store import uses_sign_in

        return known.can_start and uses_sign_in(known.server)

    def sign_in(self) -> None:
        """Connect to the chosen server, and let the user sign in if the server requires it."""
        known = self._state.chosen
        if known is not None and self._may_sign_in(known):
            self._live.connect(known, McpSignInDialogs(self._screen))

    async def sign_out(self) -> None:
        """Delete the tokens for the chosen server, and disconnect."""
        from acp_tui.mcp.sign_in.token_store import sign_out

        known = self._state.chosen
        if known is None:
            return
        try:
            was_signed_in = await sign_out(known.server.url)
        except UserError as error:
            self._show_error(error)
            return
        self._live.disconnect(known)
        name = escape_invisible_line(known.server.name)
        self._screen.notify(
            f"Signed out of {name}." if was_signed_in else f"You were not signed in to {name}.", timeout=4
        )
        self._reload()
