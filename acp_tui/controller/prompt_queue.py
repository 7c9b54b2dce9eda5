"""The queue of prompts: one is sent, the others wait.

Agents differ in how they treat a second prompt during a turn, so the second prompt is sent only after the
turn. Agents that support steering can be offered a prompt during the turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from acp_tui.connection.errors import AgentGone, AgentTimeout, SignInNeeded
from acp_tui.errors import UserError
from acp_tui.protocol.client_calls import TAKEN_OUTCOMES
from acp_tui.session.events import Noticed, Queued, QueuePaused, Unqueued
from acp_tui.store.secret_patterns import MASK

if TYPE_CHECKING:
    from acp_tui.controller.conversation import Conversation
    from acp_tui.session.state import QueuedPrompt


ANSWER_SECONDS = 10.0
"""The longest wait for the answer to an offered prompt. No other prompt is sent during the wait."""
INCOMPLETE_PROMPT = "Not sent: this prompt's secrets were masked when it was saved. Write the prompt again."
"""The error for a queued prompt that was restored from the log, where its secrets are masked."""


class PromptQueue:
    """Sends prompts one by one. If a prompt fails, calls `failed` with the error and the prompt's text."""

    def __init__(self, conversation: Conversation, failed: Callable[[UserError, str], None]) -> None:
        self._conversation = conversation
        self._failed = failed
        self._turn: asyncio.Task[Any] | None = None
        self._steering = Steering(conversation)
        self._ready = False
        self._numbers = count(1)
        self._refused: str | None = None  # the id of the queued prompt for which a sign-in is needed
        self._reasons: list[QueuedPrompt] = []  # given to `submit_first` during the turn
        self._was_paused = False  # whether the queue was paused when the turn began
        self._paused_before = False  # whether the queue was paused before that prompt was refused
        self._restored = {prompt.id for prompt in conversation.session.queue}

    @property
    def running(self) -> bool:
        """True while a prompt is being sent or answered."""
        return self._turn is not None and not self._turn.done()

    @property
    def _can_send(self) -> bool:
        free = not self.running and not self._steering.waiting
        return self._ready and free and self._conversation.session.phase != "dead"

    @property
    def _can_steer(self) -> bool:
        return self.running and self._steering.supported

    def opened(self) -> None:
        """Send what was queued before the session was open, except for paused prompts."""
        self._ready = True
        self._send_next()

    def closed(self) -> None:
        """Queue all prompts until `opened` is called again."""
        self._ready = False

    def submit(self, text: str, blocks: list[dict[str, Any]] | None = None) -> None:
        """Send a prompt, or queue a prompt that cannot be sent now.

        Paused prompts hold back neither a new prompt nor the prompts queued after it.
        """
        session = self._conversation.session
        if self._can_send and all(prompt.paused for prompt in session.queue):
            self._send(text, blocks)
        else:
            self._queue(text, blocks)

    async def submit_first(self, text: str) -> None:
        """Send a prompt before the queued ones, such as the reason for a rejection.

        If the prompt cannot be sent at once, put the prompt at the head of the queue. During a turn, also
        offer the prompt to an agent that supports steering. Some agents end the turn after a rejection, as if
        it had been cancelled, without reading what was sent into it. Then the prompt is sent as the next one.
        """
        if self._can_send:
            self._send(text, None)
        else:
            prompt = self._queue(text, None, first=True)
            self._reasons.append(prompt)
            if self._can_steer:
                await self._steer(prompt)

    async def run(self, prompt: Coroutine[Any, Any, Any]) -> Any:
        """Await a prompt that does not come from the queue, and return its result.

        Meanwhile, prompts are queued; afterwards, the queue continues as after any prompt.
        """
        if self.running:
            return await prompt
        self._reasons, self._was_paused = [], self._conversation.session.queue_paused
        self._turn = turn = asyncio.create_task(prompt)

        def ended(turn: asyncio.Task[Any]) -> None:
            if not turn.cancelled() and turn.exception() is None:
                self._turn_ended()

        turn.add_done_callback(ended)
        return await asyncio.shield(turn)  # the turn goes on if nobody waits for its result any more

    def _turn_ended(self) -> None:
        if not self._send_unread() and self._conversation.session.stop_reason == "end_turn":
            self._send_next()

    def next(self) -> None:
        """Resume the queue, and send its first prompt if a prompt can be sent now."""
        session = self._conversation.session
        if session.queue_paused:
            self._conversation.note(QueuePaused(False))
        self._send_next()

    def _send_next(self) -> None:
        """Send the first prompt in the queue, if it is not paused and a prompt can be sent now."""
        session = self._conversation.session
        if self._can_send and session.queue and not session.queue[0].paused:
            prompt = session.queue[0]
            self._conversation.note(Unqueued(prompt.id))
            if self._is_complete(prompt):
                self._send(prompt.text, prompt.blocks)

    def resend_refused(self) -> None:
        """Send the prompt that was refused because of a missing sign-in, unless the prompt has been removed.

        Afterwards, the queue continues as it would have without the refusal.
        """
        refused, self._refused = self._refused, None
        if refused is None:
            return
        if not self._paused_before:
            self.next()
        elif (prompt := self._waiting(refused)) is not None and self._can_send:
            self._conversation.note(Unqueued(prompt.id))
            self._send(prompt.text, prompt.blocks)

    async def send_at_once(self, text: str, blocks: list[dict[str, Any]] | None = None) -> None:
        """Send `text`, or the first prompt in the queue if `text` is empty, as described at `send_now`."""
        queue = self._conversation.session.queue
        if text:
            self._queue(text, blocks, first=True)
        if queue:
            await self.send_now(queue[0].id)

    async def send_now(self, prompt_id: str) -> None:
        """Send a queued prompt without waiting for the end of the turn.

        If the agent supports steering, the prompt is offered during the turn, and stays queued if the agent
        does not take the prompt. Otherwise, the turn is cancelled first.
        """
        prompt = self._waiting(prompt_id)
        if prompt is None:
            return
        self._conversation.note(Unqueued(prompt.id))
        if not self._is_complete(prompt):
            return
        self._conversation.note(Queued(prompt.id, prompt.text, prompt.blocks, first=True))
        if self._can_steer:
            await self._steer(prompt)
            return
        if self.running:
            await self.stop()
        self.next()

    def remove(self, prompt_id: str) -> None:
        """Remove a queued prompt."""
        self._reasons = [reason for reason in self._reasons if reason.id != prompt_id]
        if self._waiting(prompt_id) is not None:
            self._conversation.note(Unqueued(prompt_id))

    def take_back(self, prompt_id: str | None = None) -> QueuedPrompt | None:
        """Remove a queued prompt (by default the last one) and return it for editing."""
        queue = self._conversation.session.queue
        prompt = self._waiting(prompt_id) if prompt_id is not None else (queue[-1] if queue else None)
        if prompt is not None:
            self.remove(prompt.id)
        return prompt

    async def stop(self) -> None:
        """Cancel the turn and wait until it has ended."""
        with suppress(UserError):
            await self._conversation.cancel()
        if self._turn is not None:
            await asyncio.wait([self._turn])

    def _is_complete(self, prompt: QueuedPrompt) -> bool:
        """Return True if no secret in a prompt is masked; otherwise call `failed` and return False.

        Secrets are masked in the log, from which the queued prompts of an earlier run are restored.
        """
        complete = prompt.id not in self._restored or MASK not in json.dumps([prompt.text, prompt.blocks])
        if not complete:
            self._failed(UserError(INCOMPLETE_PROMPT), prompt.text)
        return complete

    def _waiting(self, prompt_id: str) -> QueuedPrompt | None:
        return next((one for one in self._conversation.session.queue if one.id == prompt_id), None)

    async def _steer(self, prompt: QueuedPrompt) -> None:
        await self._steering.offer(prompt.id, _blocks_of(prompt.text, prompt.blocks))
        if self._send_unread():
            return
        self._send_next()  # the turn may have ended meanwhile

    def _send_unread(self) -> bool:
        """Send the prompts of `submit_first` that the agent has not read. Return False if there are none.

        The agent has not read them if it ended the turn as cancelled although nobody stopped it.
        """
        if not self._can_send or not self._reasons:
            return False
        reasons, self._reasons = self._reasons, []
        if self._conversation.session.stop_reason != "cancelled" or self._conversation.was_stopped:
            return False
        is_repeated = any(self._waiting(prompt.id) is None for prompt in reasons)
        for prompt in reversed(reasons):
            self._conversation.note(Queued(prompt.id, prompt.text, prompt.blocks, first=True))
        if is_repeated:
            title = self._conversation.launch.title
            words = f"{title} ended the turn without reading your message. It is sent again as a prompt."
            self._conversation.note(Noticed("info", words))
        self._conversation.note(Unqueued(reasons[0].id))
        if not self._was_paused:
            self._conversation.note(QueuePaused(False))
        self._send(reasons[0].text, reasons[0].blocks)
        return True

    def _queue(self, text: str, blocks: list[dict[str, Any]] | None, *, first: bool = False) -> QueuedPrompt:
        taken = {prompt.id for prompt in self._conversation.session.queue}
        name = next(name for number in self._numbers if (name := f"queued-{number}") not in taken)
        self._conversation.note(Queued(name, text, blocks or [], first=first))
        return next(prompt for prompt in self._conversation.session.queue if prompt.id == name)

    def _send(self, text: str, blocks: list[dict[str, Any]] | None) -> None:
        self._reasons = []
        self._turn = asyncio.create_task(self._hold(text, _blocks_of(text, blocks)))

    async def _hold(self, text: str, blocks: list[dict[str, Any]]) -> None:
        paused = self._was_paused = self._conversation.session.queue_paused
        try:
            await self._conversation.prompt(blocks)
        except SignInNeeded as need:
            if self._refused is None:
                self._paused_before = paused
            self._refused = self._queue(text, blocks, first=True).id
            self._conversation.note(QueuePaused(True))
            self._failed(need, text)
        except UserError as error:
            if not (isinstance(error, AgentGone) and error.exit.expected):  # unless acp-tui ended the agent
                self._failed(error, text)
        else:
            self._turn = None
            self._turn_ended()


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


def _blocks_of(text: str, blocks: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return blocks or [{"type": "text", "text": text}]
