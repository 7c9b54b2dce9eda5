"""Steering: offers a queued prompt to an agent that accepts messages during a turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from acp_tui.connection.errors import AgentTimeout
from acp_tui.errors import UserError
from acp_tui.protocol.client_calls import TAKEN_OUTCOMES
from acp_tui.session.events import Noticed, Unqueued

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.controller.conversation import Conversation

ANSWER_SECONDS = 10.0
"""The longest wait for the answer to an offered prompt. No other prompt is sent during the wait."""


class Steering:
    """Offers prompts to the agent one by one. A prompt leaves the queue when the agent has taken it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._lock = asyncio.Lock()  # held until the agent has said whether it takes a prompt

    @property
    def supported(self) -> bool:
        """Whether the agent advertises that it accepts messages during a turn."""
        agent = self._conversation.session.agent
        return agent is not None and agent.can_steer

    @property
    def waiting(self) -> bool:
        """Whether a prompt was offered and the agent has not answered yet."""
        return self._lock.locked()

    async def offer(self, prompt_id: str, blocks: Sequence[dict[str, Any]]) -> None:
        """Offer a queued prompt to the agent. The prompt stays queued if the agent does not take it."""
        async with self._lock:
            session = self._conversation.session
            if not session.working or all(prompt.id != prompt_id for prompt in session.queue):
                return  # the turn ended or the prompt was removed during the wait for another prompt
            try:
                outcome = await self._conversation.steer(blocks, timeout=ANSWER_SECONDS)
            except AgentTimeout:
                outcome = "no answer"
            except UserError:  # the transcript already shows that the call failed or the agent exited
                return
            if outcome in TAKEN_OUTCOMES:
                self._conversation.note(Unqueued(prompt_id))
            elif outcome != "promptRequired":
                title = self._conversation.launch.title
                words = "did not take the prompt into the running turn. The prompt stays in the queue."
                self._conversation.note(Noticed("warning", f"{title} {words}"))
