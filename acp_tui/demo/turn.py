"""One turn: the updates that can be sent while a prompt is answered."""

from __future__ import annotations

import asyncio
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp import plan_entry, text_block, update_plan
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionNotification,
    TextContentBlock,
    Usage,
)
from acp.utils import serialize_params

from acp_tui.demo import announce
from acp_tui.demo.settings import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp import Client
    from acp.schema import (
        AudioContentBlock,
        ClientCapabilities,
        EmbeddedResourceContentBlock,
        ImageContentBlock,
        PlanEntryPriority,
        PlanEntryStatus,
        ResourceContentBlock,
        StopReason,
    )

    from acp_tui.demo.open_session import OpenSession
    from acp_tui.demo.wire import Wire

    ContentBlock = (
        TextContentBlock
        | ImageContentBlock
        | AudioContentBlock
        | ResourceContentBlock
        | EmbeddedResourceContentBlock
    )

Chunking = Literal["character", "word", "line"]

_PIECES: dict[Chunking, Callable[[str], list[str]]] = {
    "character": list,
    "word": re.compile(r"\S+\s*|\s+").findall,
    "line": lambda text: text.splitlines(keepends=True),
}
"""Functions that split a text into chunks."""


class EndTurn(Exception):  # noqa: N818 - not an error
    """Raised by a command to end the turn with a stop reason."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason


class Turn:
    """The context of one prompt: the client, the session, and methods to send updates."""

    def __init__(
        self,
        client: Client,
        wire: Wire,
        session: OpenSession,
        capabilities: ClientCapabilities,
        blocks: Sequence[ContentBlock],
        meta: dict[str, Any],
    ) -> None:
        self.client = client
        self.wire = wire
        self.session = session
        self.stored = session.stored
        self.capabilities = capabilities
        self.blocks = blocks
        self.meta = meta
        self.request_id = wire.request_id
        self.argument = ""
        """The text after the name of the command."""
        self.ignores_cancel = False
        """Set by `/hang` to ignore `session/cancel`."""
        self.withdrawn = False
        """Set if the client cancelled the prompt with `$/cancel_request`."""
        self.characters_sent = 0
        """Basis of the made-up token usage."""

    @property
    def text(self) -> str:
        """The text of the prompt, without attachments."""
        return " ".join(block.text for block in self.blocks if isinstance(block, TextContentBlock)).strip()

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.stored.id

    @property
    def cwd(self) -> Path:
        """The working folder of the session."""
        return Path(self.stored.cwd)

    # ------------------------------------------------------------------ updates

    async def update(self, update: Any, *, keep: bool = True) -> None:
        """Send a session update; if `keep` is true, store it for replay."""
        await self.client.session_update(self.session_id, update)
        if keep:
            self.keep(update)

    def keep(self, update: Any) -> None:
        """Store an update in the history without sending it."""
        self.stored.history.add(serialize_params(update))

    async def update_raw(self, update: dict[str, Any]) -> None:
        """Send an update for which the SDK has no model."""
        await self.notify("session/update", {"sessionId": self.session_id, "update": update})

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send any notification."""
        await self.wire.send({"jsonrpc": "2.0", "method": method, "params": params})

    # ------------------------------------------------------------------ speech

    async def say(self, text: str, *, by: Chunking = "word") -> None:
        """Send a message in chunks."""
        await self._stream(AgentMessageChunk, "agent_message_chunk", _PIECES[by](text))

    async def think(self, text: str) -> None:
        """Send a thought in chunks, unless the user turned thoughts off."""
        if self.stored.settings.thoughts:
            await self._stream(AgentThoughtChunk, "agent_thought_chunk", _PIECES["word"](text))

    async def show(self, block: ContentBlock) -> None:
        """Send an image, a sound or a resource as a separate message."""
        chunk = AgentMessageChunk(
            session_update="agent_message_chunk", content=block, message_id=str(uuid.uuid4())
        )
        await self.update(chunk)
        await self.rest()

    async def _stream(self, chunk: type[Any], kind: str, pieces: Sequence[str]) -> None:
        message_id = str(uuid.uuid4())
        for piece in pieces:
            content = text_block(piece)
            await self.update(chunk(session_update=kind, content=content, message_id=message_id))
            self.characters_sent += len(piece)
            await self.rest()

    async def plan(self, steps: Sequence[str], done: int) -> None:
        """Send the whole plan, with the first `done` steps completed and the next one in progress."""

        def status(position: int) -> PlanEntryStatus:
            if position < done:
                return "completed"
            return "in_progress" if position == done else "pending"

        priorities: tuple[PlanEntryPriority, ...] = ("high", "medium", "low")
        await self.update(
            update_plan(
                plan_entry(step, priority=priorities[min(index, 2)], status=status(index))
                for index, step in enumerate(steps)
            )
        )
        await self.rest(10)

    @property
    def tokens(self) -> Usage:
        """The usage of this turn, estimated at four characters per token."""
        read, said = len(self.text) // 4, self.characters_sent // 4
        return Usage(input_tokens=read, output_tokens=said, total_tokens=read + said)

    async def count(self) -> None:
        """Add this turn to the session's usage and send the new total."""
        tokens = self.tokens.total_tokens
        self.stored.used += tokens
        self.stored.cost += tokens * MODELS[self.stored.settings.model].price / 1000
        await announce.usage(self.client, self.stored)

    # ------------------------------------------------------------------ pace

    async def rest(self, beats: float = 1) -> None:
        """Pause according to the pace setting; a cancel can arrive meanwhile."""
        await asyncio.sleep(beats * self.stored.settings.delay)


def update_from_history(session_id: str, update: dict[str, Any]) -> Any:
    """Build the SDK's model of an update from the history."""
    return SessionNotification.model_validate({"sessionId": session_id, "update": update}).update
