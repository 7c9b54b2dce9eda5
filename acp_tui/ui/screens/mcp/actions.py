"""The actions of the MCP screen: on the chosen server, and on an item of a tab."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp import Connection, connection_for
from acp_tui.config.paths import mcp_file
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.session.state import McpCall, Session
from acp_tui.store.own_mcp_servers import OwnMcpServers, change_own_servers, switch_server
from acp_tui.ui.screens.mcp.server_dialogs import McpSignInDialogs, server_title

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.mcp.inspection import ToolInfo
    from acp_tui.schema_form.values import FormAnswer
    from acp_tui.session.events import McpCalled
    from acp_tui.ui.dialogs.confirm import ConfirmScreen
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.screens.mcp.live_servers import KnownServer, LiveServers, McpContext
    from acp_tui.ui.screens.mcp.mcp_state import ListedCall, McpState


@dataclass
class _McpActions:
    """What the actions work with: the MCP screen, its state, and two callbacks."""

    screen: Screen[None]
    context: McpContext
    state: McpState
    reload: Callable[[], None]
    """Schedules another read of the servers and the facts saved about them."""
    show_error: Callable[[UserError], None]

    @property
    def live(self) -> LiveServers:
        """The connections to the servers."""
        return self.context.live


_OTHER_CONNECTION: dict[Connection, Connection] = {"direct": "bridge", "bridge": "direct"}


class ServerActions(_McpActions):
    """The actions on servers, and when each has an effect."""

    # ------------------------------------------------------------------------- which keys act

    def is_enabled(self, action: str) -> bool | None:
        """Return whether an action has an effect now; None for actions that another class runs."""
        if action == "test_all":
            return any(one.can_start for one in self.state.servers)
        checks: dict[str, Callable[[KnownServer], bool]] = {
            "test": lambda known: known.can_start,
            "stop": lambda known: self.live.status(known) in ("connecting", "connected"),
            "edit": lambda _: self.context.edit_file is not None,
            "enable": lambda known: not known.withheld,
            "connection": lambda known: known.server.file == mcp_file(),
            "sign_in": self._may_sign_in,
            "sign_out": lambda known: known.signed_in,
        }
        known = self.state.chosen
        return known is not None and checks[action](known) if action in checks else None

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        known = self.state.chosen
        if known is None:
            return None
        match key_id:
            case "mcp.enable":
                return "disable" if known.server.is_on else "enable"
            case "mcp.connection":
                return _OTHER_CONNECTION[connection_for(known.server)]
            case "mcp.test" if self.live.status(known) == "connected":
                return "test again"
        return None

    # ------------------------------------------------------------------------- connecting

    def test(self) -> None:
        """Connect to the chosen server and list what it offers."""
        if (known := self.state.chosen) is not None and known.can_start:
            self.live.connect(known)

    def test_all(self) -> None:
        """Connect to all servers that may be started."""
        for known in self.state.servers:
            if known.can_start:
                self.live.connect(known)

    def disconnect(self) -> None:
        """Disconnect from the chosen server, or stop connecting."""
        if (known := self.state.chosen) is not None:
            self.live.disconnect(known)

    def edit_definition(self) -> None:
        """Open the file with the chosen server's definition in the editor."""
        known = self.state.chosen
        if known is not None and self.context.edit_file is not None:
            self.context.edit_file(str(known.server.file), known.server.line)
            self.reload()

    async def switch(self) -> None:
        """Enable or disable the chosen server for new sessions."""
        known = self.state.chosen
        if known is None:
            return
        on = not known.server.is_on
        try:
            await asyncio.to_thread(switch_server, known.server, enabled=on)
        except UserError as error:
            self.show_error(error)
            return
        if not on:
            self.live.disconnect(known)
        name = escape_invisible_line(known.server.name)
        self.screen.notify(f"{name} is {'enabled' if on else 'disabled'} for new sessions.", timeout=4)
        self.reload()

    async def choose_connection(self) -> None:
        """Switch the chosen server, which must be in `mcp.toml`, between bridge and direct connection."""
        known = self.state.chosen
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
            self.show_error(error)
        else:
            way = "through the bridge" if other == "bridge" else "directly"
            self.screen.notify(f"New sessions connect to {escape_invisible_line(name)} {way}.", timeout=4)
        self.reload()

    # ------------------------------------------------------------------------- signing in

    def _may_sign_in(self, known: KnownServer) -> bool:
        from acp_tui.mcp.sign_in.token_store import uses_sign_in

        return known.can_start and uses_sign_in(known.server)

    def sign_in(self) -> None:
        """Connect to the chosen server, and let the user sign in if the server requires it."""
        known = self.state.chosen
        if known is not None and self._may_sign_in(known):
            self.live.connect(known, McpSignInDialogs(self.screen))

    async def sign_out(self) -> None:
        """Delete the tokens for the chosen server, and disconnect."""
        from acp_tui.mcp.sign_in.token_store import sign_out

        known = self.state.chosen
        if known is None:
            return
        try:
            was_signed_in = await sign_out(known.server.url)
        except UserError as error:
            self.show_error(error)
            return
        self.live.disconnect(known)
        name = escape_invisible_line(known.server.name)
        self.screen.notify(
            f"Signed out of {name}." if was_signed_in else f"You were not signed in to {name}.", timeout=4
        )
        self.reload()


MAX_ABOUT = 300
"""The maximum number of characters of a description in the question before a call."""


@dataclass
class ItemActions(_McpActions):
    """The actions on items, and when each has an effect.

    The argument `item` of the methods is the key of the chosen item.
    """

    _arguments: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict, init=False)
    """The arguments of the user's last call, by server and tool."""

    def is_enabled(self, action: str, item: str | None, *, in_tab: bool) -> bool | None:
        """Return whether an action has an effect now; None for actions that another class runs."""
        match action:
            case "open":
                return not in_tab or item is not None
            case "view":
                return self.state.chosen is not None
            case "changes":
                return in_tab and self._is_changed(item)
            case "accept":
                return self._is_changed(item) if in_tab else self._any_changed()
        return None

    def label_of(self, key_id: str, *, in_tab: bool) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        if key_id == "mcp.open" and in_tab:
            return {"tools": "call", "resources": "read"}.get(self.state.tab_name, "view")
        return "accept all" if key_id == "mcp.accept" and not in_tab else None

    # ------------------------------------------------------------------------- items

    def open(self, item: str | None) -> None:
        """Call the chosen tool, read the chosen resource, or show the chosen prompt or call."""
        match self.state.tab_name:
            case "tools":
                self.screen.run_worker(self._call_tool(item), group="call", exclusive=True)
            case "resources":
                self.screen.run_worker(self._read_resource(item), group="call", exclusive=True)
            case _:
                self.view(item)

    def view(self, item: str | None) -> None:
        """Show the chosen item in full; with None, everything about the chosen server."""
        from acp_tui.ui.screens.mcp import tool_call_screen

        known = self.state.chosen
        if known is None:
            return
        live, name = self.live.get(known), known.server.name
        inspection = live.inspection
        if item is None:
            facts = self.state.facts(known)
            self._show(
                name, lambda drawing: tool_call_screen.server_page(known.server, facts, inspection, drawing)
            )
        elif self.state.tab_name == "calls":
            self._view_call(next((one for one in self.state.calls(known) if one.key == item), None))
        elif self.state.tab_name == "tools" and (tool := self._tool(item)) is not None:
            self._show(f"{name} › {item}", lambda drawing: tool_call_screen.tool_page(tool, drawing))
        elif inspection is not None and self.state.tab_name == "prompts":
            prompt = next(one for one in inspection.prompts if one.name == item)
            self._show(f"{name} › {item}", lambda drawing: tool_call_screen.prompt_page(prompt, drawing))
        elif self.state.tab_name == "resources":
            self.open(item)

    def _view_call(self, listed: ListedCall | None) -> None:
        from acp_tui.ui.entries.renderers import GuardedBody
        from acp_tui.ui.screens.mcp import tool_call_screen

        if listed is None:
            return
        call = listed.call
        if not isinstance(call, McpCall):
            self._show("Call", lambda drawing: [GuardedBody(call, drawing)], session=self.context.session)
            return
        entry = tool_call_screen.call_entry(call)

        def draw(context: DrawContext) -> list[Body]:
            above = tool_call_screen.arguments_body(call.raw_arguments, context)
            return [*above, GuardedBody(entry, context)]

        self._show(entry.title, draw)

    def _show(
        self,
        title: str,
        content: Callable[[DrawContext], Sequence[Body]],
        session: Session | None = None,
    ) -> None:
        from acp_tui.ui.dialogs.detail import DetailScreen

        page = DetailScreen(
            escape_invisible_line(title),
            content,
            session=session,
            cwd=str(self.context.cwd),
        )
        self.screen.app.push_screen(page)

    def _tool(self, item: str | None) -> ToolInfo | None:
        known = self.state.chosen
        inspection = self.live.get(known).inspection if known is not None else None
        tools = inspection.tools if inspection is not None else []
        return next((tool for tool in tools if tool.name == item), None)

    # ------------------------------------------------------------------------- calls by the user

    async def _call_tool(self, item: str | None) -> None:
        from acp_tui.mcp.schema_validation import SchemaValidator
        from acp_tui.ui.schema_form.dialog import SchemaFormDialog
        from acp_tui.ui.screens.mcp.tool_call_screen import ToolCallScreen

        known, tool = self.state.chosen, self._tool(item)
        if known is None or tool is None:
            return
        connection = self.live.get(known).connection
        if connection is None:
            self.screen.notify("The server is not connected. Test it first.", timeout=4)
            return
        if _takes_no_arguments(tool.input_schema):
            if await self.screen.app.push_screen_wait(self._confirmation(known, tool)):
                page = ToolCallScreen(connection, tool.name, {}, self._record_call)
                self.screen.app.push_screen(page)
            return
        dialog = SchemaFormDialog(
            f"Call {tool.name}",
            tool.input_schema,
            asked_by=server_title(known.server.name),
            message=tool.description,
            values=self._arguments.get((known.key, tool.name)),
            validate=SchemaValidator(tool.input_schema).faults,
        )
        answer: FormAnswer | None = await self.screen.app.push_screen_wait(dialog)
        if answer is not None and answer.action == "accept":  # None if the dialog could not be drawn
            arguments = self._arguments[known.key, tool.name] = answer.content or {}
            page = ToolCallScreen(connection, tool.name, arguments, self._record_call)
            self.screen.app.push_screen(page)

    def _confirmation(self, known: KnownServer, tool: ToolInfo) -> ConfirmScreen:
        """Return the only question before a call of a tool without arguments."""
        from acp_tui.ui.dialogs.confirm import ConfirmScreen

        name, server = escape_invisible_line(tool.name), server_title(known.server.name)
        about = escape_invisible_line(tool.description)
        question = f"Call {name} of the {server}? It takes no arguments."
        if about:
            question += f"\n\n{about if len(about) <= MAX_ABOUT else about[:MAX_ABOUT] + '…'}"
        return ConfirmScreen(question, yes="Call the tool", no="Cancel")

    def _record_call(self, call: McpCalled) -> None:
        if self.context.note is not None:
            self.context.note(call)
        self.reload()

    async def _read_resource(self, uri: str | None) -> None:
        from acp_tui.mcp.calls import read_resource
        from acp_tui.protocol.content import read_blocks
        from acp_tui.ui.entries import content as content_entry

        known = self.state.chosen
        connection = self.live.get(known).connection if known is not None else None
        if connection is None or uri is None:
            self.screen.notify("The server is not connected. Test it first.", timeout=4)
            return
        try:
            contents = read_blocks(await read_resource(connection, uri))
        except UserError as error:
            self.show_error(error)
            return
        self._show(uri, lambda drawing: [content_entry.body(content, drawing) for content in contents])

    # ------------------------------------------------------------------------- changed tools

    def _is_changed(self, item: str | None) -> bool:
        known = self.state.chosen
        if known is None or item is None or self.state.tab_name != "tools":
            return False
        changes = self.state.tool_changes(known)
        return item in (*changes.changed, *changes.added)

    def _any_changed(self) -> bool:
        return (known := self.state.chosen) is not None and bool(self.state.tool_changes(known))

    def show_changes(self, item: str | None) -> None:
        """Show the difference between the chosen tool as the user accepted it and as it is now."""
        from acp_tui.mcp.inspection_record import tool_parts
        from acp_tui.ui.entries.diff import DiffBody
        from acp_tui.ui.screens.mcp import tool_call_screen

        known, tool = self.state.chosen, self._tool(item)
        if known is None or tool is None:
            return
        before = known.accepted_tools.get(tool.name)
        diff = tool_call_screen.tool_difference(tool.name, before, tool_parts(tool))
        title = f"{known.server.name} › {tool.name}: changes since you accepted it"
        self._show(title, lambda drawing: [DiffBody(diff, drawing)])

    async def accept(self, item: str | None) -> None:
        """Accept the chosen tool as it is now; with None, all tools of the chosen server."""
        from acp_tui.mcp.inspection_record import accept_tools

        known = self.state.chosen
        inspection = self.live.get(known).inspection if known is not None else None
        if known is None or inspection is None:
            return
        try:
            await asyncio.to_thread(accept_tools, known.server.digest(), inspection, item)
        except OSError as error:
            self.show_error(UserError(f"The accepted tools cannot be saved: {error.strerror or error}."))
        self.reload()


def _takes_no_arguments(schema: dict[str, Any]) -> bool:
    """Return whether an input schema describes no argument, so that a form would be empty."""
    described = {key for key, value in schema.items() if value not in ({}, [], False)}
    return described <= {"type", "title", "description", "$schema"}
