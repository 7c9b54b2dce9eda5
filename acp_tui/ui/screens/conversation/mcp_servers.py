"""The MCP servers in a conversation: their screen, and their prompts and resources in the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.screens.conversation.prompts.server_prompts import ServerPrompts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.mcp.live_servers import LiveServers
    from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
    from acp_tui.ui.screens.session.context import SessionContext

SHOWN_FACTS = frozenset({"mcp_servers", "mcp_calls", "session_id"})
"""Attributes of `Session` whose changes update the MCP screen."""


class ConversationMcp:
    """Opens the MCP screen, and offers the prompts and resources of MCP servers in the input."""

    def __init__(
        self,
        screen: BaseScreen,
        prompt: Prompt,
        runner: ConversationRunner,
        context: SessionContext,
        edit_file: Callable[[str, int | None], None],
        closed: Callable[[], None],
    ) -> None:
        """`closed` is called after the MCP screen was closed."""
        self._screen = screen
        self._runner = runner
        self._context = context
        self._edit_file = edit_file
        self._after_close = closed
        self._prompts = ServerPrompts(screen, prompt, context)
        self._open: McpScreen | None = None
        self._live: LiveServers | None = None

    def open(self, server: str | None = None) -> None:
        """Open the MCP screen; `server` is the name of the server to show first."""
        from acp_tui.ui.screens.mcp.known_servers import known_servers
        from acp_tui.ui.screens.mcp.live_servers import LiveServers
        from acp_tui.ui.screens.mcp.mcp_context import McpContext
        from acp_tui.ui.screens.mcp.mcp_screen import McpScreen

        conversation = self._runner.conversation
        if self._open is not None:
            return
        if conversation is None:
            self._screen.notify("acp-tui is still starting. Try again in a moment.", timeout=3)
            return
        options = conversation.options
        if self._live is None:
            self._live = LiveServers(conversation.cwd)
        context = McpContext(
            load_servers=lambda: known_servers(
                options.servers, options.withheld_servers, conversation.mcp_servers
            ),
            cwd=conversation.cwd,
            live=self._live,
            session=self._context.session,
            agent=conversation.launch.title,
            note=conversation.note,
            edit_file=self._edit_file,
        )
        self._open = McpScreen(self._context.palette, context, server)
        self._screen.open_dialog(self._open, self._closed)

    async def close(self) -> None:
        """End the connections that the user has made on the MCP screen."""
        if self._live is not None:
            await self._live.close()

    def _closed(self, _: None) -> None:
        self._open = None
        self._load_prompts()
        self._after_close()

    def _load_prompts(self) -> None:
        self._screen.run_worker(self._prompts.load(), group="server prompts", exclusive=True)

    def use_prompt(self, name: str, argument: str) -> None:
        """Put the MCP prompt `name` ("SERVER:PROMPT") into the input.

        The user is first asked for the prompt's arguments, if any. `argument` pre-fills the first argument.
        """
        self._screen.run_worker(self._prompts.use(name, argument), group="server prompt", exclusive=True)

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Update the open MCP screen. If the session's servers changed, also update the input's menus."""
        if any(change.fact == "mcp_servers" for change in changes):
            self._load_prompts()
        if self._open is not None and any(
            change.fact in SHOWN_FACTS or getattr(change.entry, "mcp_tool", None) for change in changes
        ):
            self._open.update()
            self._open.reload()
