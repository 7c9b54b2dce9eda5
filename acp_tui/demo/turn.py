"""One turn: the updates that can be sent while a prompt is answered."""

from __future__ import annotations

import asyncio
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp import plan_entry, text_block, update_plan, update_user_message
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionNotification,
    TextContentBlock,
    Usage,
)
from acp.utils import serialize_params

from acp_tui.demo.sessions import state_updates
from acp_tui.demo.sessions.settings import MODELS

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

    from acp_tui.demo.sessions.open_session import OpenSession
    from acp_tui.demo.wire import Wire

    ContentBlock = (
        TextContentBlock
        | ImageContentBlock
        | AudioContentBlock
        | ResourceContentBlock
        | EmbeddedResourceContentBlock
    )

Chunking = Literal["character", "word", "line"]

_SPLITTERS: dict[Chunking, Callable[[str], list[str]]] = {
    "character": list,
    "word": re.compile(r"\S+\s*|\s+").findall,
    "line": lambda text: text.splitlines(keepends=True),
}
"""Functions that split a text into the chunks in which it is sent."""

NO_RUNNING_TURN = {"outcome": "promptRequired", "reason": "noRunningTurn"}
"""The answer to a steering message when no turn is running: the client must send the message as a prompt."""


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
        self._steering: list[str] = []  # messages that came during the turn and are not yet answered
        self.argument = ""
        """The text after the name of the command."""
        self.ignores_cancel = False
        """Set by `/hang` to ignore `session/cancel`."""
        self.request_cancelled = False
        """Set if the client cancelled the prompt with `$/cancel_request`."""
        self.characters_sent = 0
        """Characters sent in messages and thoughts of this turn. The token usage is estimated from them."""

    @property
    def text(self) -> str:
        """The text of the prompt, without attachments."""
        return " ".join(block.text for block in self.blocks if isinstance(block, TextContentBlock)).strip()

    @property
    def session_id(self) -> str:
        return self.stored.id

    @property
    def cwd(self) -> Path:
        """The working folder of the session."""
        return Path(self.stored.cwd)

    # ------------------------------------------------------------------ updates

    async def send_update(self, update: Any, *, store: bool = True) -> None:
        """Send a session update; if `store` is true, add it to the history for replay."""
        await self.client.session_update(self.session_id, update)
        if store:
            self.store_update(update)

    def store_update(self, update: Any) -> None:
        """Add an update to the history, without sending the update."""
        self.stored.history.add(serialize_params(update))

    async def send_raw_update(self, update: dict[str, Any]) -> None:
        """Send an update that the SDK's models cannot express."""
        await self.send_notification("session/update", {"sessionId": self.session_id, "update": update})

    async def send_notification(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that the SDK may not know."""
        await self.wire.send({"jsonrpc": "2.0", "method": method, "params": params})

    # ------------------------------------------------------------------ messages

    async def say(self, text: str, *, chunking: Chunking = "word") -> None:
        """Send an agent message in chunks."""
        await self._stream(AgentMessageChunk, "agent_message_chunk", _SPLITTERS[chunking](text))

    async def think(self, text: str) -> None:
        """Send a thought in chunks, unless the user turned thoughts off."""
        if self.stored.settings.thoughts:
            await self._stream(AgentThoughtChunk, "agent_thought_chunk", _SPLITTERS["word"](text))

    async def send_content(self, block: ContentBlock) -> None:
        """Send a content block, such as an image or a resource, as a separate message."""
        chunk = AgentMessageChunk(
            session_update="agent_message_chunk", content=block, message_id=str(uuid.uuid4())
        )
        await self.send_update(chunk)
        await self.pause()

    async def _stream(self, chunk: type[Any], kind: str, pieces: Sequence[str]) -> None:
        message_id = str(uuid.uuid4())
        for piece in pieces:
            content = text_block(piece)
            await self.send_update(chunk(session_update=kind, content=content, message_id=message_id))
            self.characters_sent += len(piece)
            await self.pause()

    async def send_plan(self, steps: Sequence[str], done: int) -> None:
        """Send the whole plan, with the first `done` steps completed and the next one in progress."""

        def status(position: int) -> PlanEntryStatus:
            if position < done:
                return "completed"
            return "in_progress" if position == done else "pending"

        priorities: tuple[PlanEntryPriority, ...] = ("high", "medium", "low")
        await self.send_update(
            update_plan(
                plan_entry(step, priority=priorities[min(index, 2)], status=status(index))
                for index, step in enumerate(steps)
            )
        )
        await self.pause(10)

    @property
    def token_usage(self) -> Usage:
        """The usage of this turn, estimated at four characters per token."""
        read, said = len(self.text) // 4, self.characters_sent // 4
        return Usage(input_tokens=read, output_tokens=said, total_tokens=read + said)

    async def send_usage(self) -> None:
        """Add this turn to the session's usage and send the new total."""
        tokens = self.token_usage.total_tokens
        self.stored.used += tokens
        self.stored.cost += tokens * MODELS[self.stored.settings.model].price / 1000
        await state_updates.send_usage(self.client, self.stored)

    # ------------------------------------------------------------------ pace

    async def pause(self, steps: float = 1) -> None:
        """Pause. The pace setting determines the length of a step. The turn can be cancelled meanwhile."""
        await self.wait(steps * self.stored.settings.delay)

    async def wait(self, seconds: float) -> None:
        """Wait, then answer the messages that the user has sent into the turn meanwhile."""
        await asyncio.sleep(seconds)
        await self.answer_steering()

    # ------------------------------------------------------------------ steering

    def steer(self, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Accept a message that the user sends into the turn. Return the result of the client's request.

        The turn answers the message at its next pause.
        """
        for block in blocks:
            if block["type"] == "text":
                self.store_update(update_user_message(text_block(block["text"])))
                self._steering.append(block["text"])
        return {"outcome": "injected"}

    async def answer_steering(self) -> None:
        """Answer the messages that `steer` has accepted."""
        while self._steering:
            await self.say(f'\n\nIn the middle of this turn, you said: "{self._steering.pop(0)}"\n\n')


def parse_stored_update(session_id: str, update: dict[str, Any]) -> Any:
    """Convert a stored update to the SDK's model."""
    return SessionNotification.model_validate({"sessionId": session_id, "update": update}).update
