"""An open session: what is stored of it, and what lasts only while it is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.local_agent.instructions import instructions, mode_option, mode_state
from acp_tui.local_agent.tools import Toolbox
from acp_tui.local_agent.updates import Updates

if TYPE_CHECKING:
    from acp import Client, schema
    from pydantic_ai.messages import ModelMessage

    from acp_tui.local_agent.mcp_servers import McpServer, McpServers
    from acp_tui.local_agent.model import Model
    from acp_tui.local_agent.models import Models
    from acp_tui.local_agent.profile import Answer, ToolSpec
    from acp_tui.local_agent.storage import StoredSession
    from acp_tui.local_agent.wire import Wire


class Session:
    """A session with its tools, MCP servers and updates."""

    def __init__(
        self,
        stored: StoredSession,
        client: Client,
        capabilities: schema.ClientCapabilities,
        wire: Wire,
        models: Models,
        available_commands: Callable[[Session], Sequence[schema.AvailableCommand]],
    ) -> None:
        self.stored = stored
        self.client = client
        self.capabilities = capabilities
        self.models = models
        self._available_commands = available_commands
        self.updates = Updates(wire, stored.meta.id, stored.record)
        self.cwd = Path(stored.meta.cwd)
        self.directories = [Path(directory) for directory in stored.meta.directories]
        self.mcp: McpServers | None = None
        self.toolbox = Toolbox(
            client, self.id, [self.cwd, *self.directories], capabilities, self.updates, lambda: self.mode
        )
        self._mcp_start: asyncio.Task[None] | None = None
        self._counted_messages = len(stored.messages) if stored.meta.used else 0
        self._is_announced = False

    @property
    def id(self) -> str:
        return self.stored.meta.id

    @property
    def mode(self) -> str:
        return self.stored.meta.mode

    # ------------------------------------------------------------------ opening and closing

    def start_mcp_servers(self, servers: Sequence[McpServer]) -> None:
        """Start the servers in the background. The first turn waits for them."""
        if servers:
            # Imported here because the MCP library takes a second to load and 50 MB.
            self._mcp_start = asyncio.create_task(self._start_mcp_servers(servers))

    async def _start_mcp_servers(self, servers: Sequence[McpServer]) -> None:
        module = await asyncio.to_thread(_import_mcp)
        self.mcp = module.McpServers(
            lambda sentence: self.updates.notice(sentence, severity="warning"), self.announce_commands
        )
        self.toolbox.mcp = self.mcp
        await self.mcp.start(servers, self.cwd)
        self.announce_commands()

    async def wait_for_mcp_servers(self) -> None:
        """Wait until the servers can be used, or have failed."""
        if self._mcp_start is not None:
            await asyncio.shield(self._mcp_start)

    def announce(self) -> None:
        """Send the state that a client needs beyond the answer to `session/new`."""
        self._is_announced = True
        self.announce_commands()
        self.send_usage()
        if (warning := self.models.context_warning(self.stored.meta.model)) is not None:
            self.updates.notice(*warning, severity="warning")

    def announce_commands(self) -> None:
        """Send the slash commands, which the prompts of MCP servers belong to."""
        if self._is_announced:
            self.updates.commands(self._available_commands(self))

    async def close(self) -> None:
        """End what belongs to the session. No turn may be running."""
        if self._mcp_start is not None and not self._mcp_start.done():
            self._mcp_start.cancel()
            await asyncio.wait([self._mcp_start])
        if self.mcp is not None:
            await self.mcp.close()
        self.stored.flush()

    # ------------------------------------------------------------------ settings

    @property
    def settings_state(self) -> dict[str, Any]:
        """The modes and options, as answers to `session/new` and the like contain them."""
        return {"modes": mode_state(self.mode), "config_options": self.config_options}

    @property
    def config_options(self) -> list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]:
        return [mode_option(self.mode), self.models.option(self.stored.meta.model)]

    def set_mode(self, mode: str) -> None:
        """Set the mode. It applies from the next tool call on, also in a running turn."""
        self.stored.meta.mode = mode
        self._save_settings()
        self.updates.mode(mode)

    def set_model(self, key: str) -> None:
        """Set the model. It applies from the next request on."""
        if key == self.stored.meta.model:
            return
        self.stored.meta.model = key
        self._save_settings()
        self.send_usage()
        if (warning := self.models.context_warning(key)) is not None:
            self.updates.notice(*warning, severity="warning")

    def _save_settings(self) -> None:
        if self.stored.meta.title is not None:
            self.stored.save()

    # ------------------------------------------------------------------ the model

    @property
    def model(self) -> Model:
        return self.models.get(self.stored.meta.model)

    @property
    def context(self) -> int:
        """The size of the model's context in tokens."""
        return self.models.context(self.stored.meta.model)

    def instructions(self) -> str:
        """Return the system prompt for the next request."""
        return instructions(self.cwd, self.directories, self.mode, self.context)

    def tools(self) -> list[ToolSpec]:
        """Return the tools for the next request."""
        return self.toolbox.specs()

    # ------------------------------------------------------------------ tokens

    def count(self, answer: Answer) -> None:
        """Note what a request used. Its answer must have been added to the messages."""
        meta = self.stored.meta
        read, written = answer.input_tokens or 0, answer.output_tokens or 0
        if read:
            meta.used = read + written
            self._counted_messages = len(self.stored.messages)
        meta.cost += self.models.cost(meta.model, read, written) or 0.0
        self.send_usage()

    def forget_count(self) -> None:
        """Estimate the tokens from now on, because the messages have been replaced."""
        self.stored.meta.used = self._counted_messages = 0
        self.stored.meta.used = self.tokens
        self._counted_messages = len(self.stored.messages)

    @property
    def tokens(self) -> int:
        """The tokens that the next request will have: counted by the server, and estimated beyond that."""
        from acp_tui.local_agent.model import estimate_tokens

        if self._counted_messages:
            return self.stored.meta.used + estimate_tokens(self.stored.messages[self._counted_messages :])
        return estimate_tokens(self.stored.messages, self.tools(), self.instructions())

    def send_usage(self) -> None:
        """Send the tokens in the context and the cost."""
        meta = self.stored.meta
        priced = self.models.cost(meta.model, 0, 0) is not None or meta.cost
        cost = (round(meta.cost, 6), self.models.currency(meta.model)) if priced else None
        self.updates.usage(meta.used, self.context, cost)


def _import_mcp() -> Any:
    import acp_tui.local_agent.mcp_servers

    return acp_tui.local_agent.mcp_servers


# ------------------------------------------------------------------ messages


def answer_open_calls(messages: Sequence[ModelMessage], reason: str) -> ModelMessage | None:
    """Return a message that answers the calls of the last message, or None if it has none.

    Models reject a conversation in which a call has no result. Calls have none if the agent was killed.
    """
    from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

    if not messages or not isinstance(last := messages[-1], ModelResponse):
        return None
    results = [
        ToolReturnPart(part.tool_name, reason, part.tool_call_id, outcome="failed")
        for part in last.parts
        if isinstance(part, ToolCallPart)
    ]
    return ModelRequest(results) if results else None
