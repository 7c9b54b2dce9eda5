"""Sends prompts: reads attachments, keeps the prompts in order, and manages the queue and the draft."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.controller.prompt_queue import PromptQueue
    from acp_tui.session.attachment import Attachment
    from acp_tui.session.state import QueuedPrompt
    from acp_tui.ui.conversation.background_tasks import BackgroundTasks
    from acp_tui.ui.conversation.interfaces import ConversationView, PreparedConversation


class PromptSender:
    """Accepts prompts from the first frame on, and keeps them until the conversation has a queue."""

    def __init__(self, view: ConversationView, tasks: BackgroundTasks) -> None:
        self._view = view
        self._tasks = tasks
        self._prepared: PreparedConversation | None = None
        self._queue: PromptQueue | None = None
        self._early: list[tuple[str, Sequence[Attachment]]] = []
        self._early_now = 0  # how many of these, at the beginning, are to be sent now
        self._attachment_lock = asyncio.Lock()  # later prompts wait until the attachments have been read
        self._draft_failed = False
        self._early_draft = ""  # typed before `connect`

    def connect(self, prepared: PreparedConversation, queue: PromptQueue) -> None:
        """Set the conversation whose drafts and attachments are used, and the queue that gets the prompts."""
        self._prepared, self._queue = prepared, queue
        if self._early_draft:
            self.save_draft(self._early_draft)

    def submit_early(self) -> None:
        """Submit the prompts that were kept before `connect`."""
        for text, attachments in self._early:
            self.submit(text, attachments)
        self._early.clear()

    # ------------------------------------------------------------------------- sending

    def submit(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send a prompt, or queue it during a turn."""
        if self._queue is None:
            self._early.append((text, attachments))
        elif attachments or self._attachment_lock.locked():
            self._tasks.start(self._submit_with(text, attachments))
        else:
            self._queue.submit(text)

    def submit_first(self, text: str) -> None:
        """Send a prompt before the queued ones.

        If the prompt cannot be sent at once, put the prompt at the head of the queue. During a turn, also
        offer the prompt to an agent that supports steering. Does nothing before `connect`.
        """
        if self._queue is not None:
            self._tasks.start(self._queue.submit_first(text))

    async def _submit_with(self, text: str, attachments: Sequence[Attachment]) -> None:
        blocks = await self._read_attachments(text, attachments)
        if blocks is not None and self._queue is not None:
            self._queue.submit(text, blocks)

    def send_now(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send a prompt, or the first queued one if `text` is empty, without waiting for the turn to end.

        If the agent supports steering, the prompt is offered during the turn, and stays queued if the agent
        does not take the prompt. Otherwise, the turn is cancelled first.
        """
        if self._queue is not None:
            self._tasks.start(self._send_now_with(text, attachments))
        elif text:
            self._early.insert(self._early_now, (text, attachments))
            self._early_now += 1

    async def _send_now_with(self, text: str, attachments: Sequence[Attachment]) -> None:
        blocks = await self._read_attachments(text, attachments) if attachments else []
        if blocks is not None and self._queue is not None:
            await self._queue.send_at_once(text, blocks or None)

    async def _read_attachments(
        self, text: str, attachments: Sequence[Attachment]
    ) -> list[dict[str, Any]] | None:
        """Return the content blocks of a prompt. If reading an attachment fails, show why and return None."""
        assert self._prepared is not None
        async with self._attachment_lock:
            try:
                confirm = partial(self._view.confirm, yes="Yes, attach it", no="No, do not send the prompt")
                return await self._prepared.conversation.blocks_for(text, attachments, confirm)
            except UserError as error:
                self._view.send_failed(error, text)
                return None

    # ------------------------------------------------------------------------- the queue

    def send_queued_now(self, prompt_id: str) -> None:
        """Send a queued prompt without waiting for the turn to end (see `send_now`)."""
        if self._queue is not None:
            self._tasks.start(self._queue.send_now(prompt_id))

    def resume(self) -> None:
        """Resume the paused queue."""
        if self._queue is not None:
            self._queue.next()

    def take_back(self, prompt_id: str | None = None) -> QueuedPrompt | None:
        """Remove a queued prompt, by default the last, and return it; None if there is no such prompt."""
        return self._queue.take_back(prompt_id) if self._queue is not None else None

    def remove_queued(self, prompt_id: str) -> None:
        """Remove a queued prompt."""
        if self._queue is not None:
            self._queue.remove(prompt_id)

    # ------------------------------------------------------------------------- the draft

    def save_draft(self, text: str) -> None:
        """Save the unsent prompt. Of several failures in a row, only the first is shown."""
        if self._prepared is None:
            self._early_draft = text
            return
        try:
            self._prepared.app_context.save_draft(self._prepared.conversation, text)
        except UserError as error:
            if not self._draft_failed:
                self._view.show_error(error)
            self._draft_failed = True
        else:
            self._draft_failed = False
