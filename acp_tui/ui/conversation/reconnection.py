"""Connects again to a remote agent after the connection has broken: at once, then after growing pauses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from acp_tui.connection.errors import AgentGone, AgentTimeout, CannotStart
from acp_tui.text_format import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record


FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 60.0
"""Pauses double up to this one. A connection that lasts longer makes the next pauses short again."""


class Reconnection:
    """Decides when to connect again. Does nothing for an agent that is started by a command.

    The connection must have worked once: a wrong address or token is for the user to correct.
    """

    def __init__(
        self,
        connect: Callable[[], Coroutine[Any, Any, object]],
        start_task: Callable[[Coroutine[Any, Any, object]], asyncio.Task[None]],
        changed: Callable[[], None],
    ) -> None:
        """Create a reconnection that waits for `watch`.

        Args:
            connect: Connects and reopens the session. It calls `succeeded` or `failed` at the end.
            start_task: Runs a coroutine in the background.
            changed: Called when `due_at` has changed.
        """
        self.due_at: float | None = None
        """When the next attempt is made, in seconds since 1970; None if none is planned."""
        self._connect = connect
        self._start_task = start_task
        self._changed = changed
        self._conversation: Conversation | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._attempt: asyncio.Task[None] | None = None
        self._pause = FIRST_PAUSE_SECONDS
        self._connected_at: float | None = None  # None until the connection has worked
        self._lost_at: float | None = None  # None while the connection works

    def watch(self, conversation: Conversation) -> None:
        """Connect again whenever the connection of this conversation breaks."""
        if conversation.launch.address is not None:
            self._conversation = conversation
            conversation.listen(self._see)

    def _see(self, _record: Record, events: Sequence[Event], _changes: Sequence[Change]) -> None:
        from acp_tui.session.events import AgentExited

        if self._connected_at is None or self._lost_at is not None:
            return
        if any(isinstance(event, AgentExited) and not event.expected for event in events):
            now = time.monotonic()
            if now - self._connected_at > MAX_PAUSE_SECONDS:
                self._pause = FIRST_PAUSE_SECONDS
            self._lost_at = now
            self._plan()

    def succeeded(self) -> None:
        """Note that the session is open. If the connection was lost before, say so in the conversation."""
        if self._conversation is None:
            return
        from acp_tui.session.events import Noticed

        now, lost_at = time.monotonic(), self._lost_at
        self._connected_at = now
        if self._conversation.session.phase == "dead":  # the connection has broken once more
            self._lost_at = now if lost_at is None else lost_at
            self._plan()
        elif lost_at is not None:
            self._lost_at = None
            again = f"Connected again after {format_duration(now - lost_at)}"
            self._conversation.note(Noticed("info", again))

    def failed(self, error: UserError) -> None:
        """Plan the next attempt after a failed one, unless the error is one that only the user can remove."""
        is_passing = isinstance(error, (AgentGone, AgentTimeout)) or (
            isinstance(error, CannotStart) and error.may_pass
        )
        if self._connected_at is None or not is_passing:
            return
        if self._lost_at is None:
            self._lost_at = time.monotonic()
        self._plan()

    def _plan(self) -> None:
        self._cancel_timer()
        pause, self._pause = self._pause, min(2 * self._pause, MAX_PAUSE_SECONDS)
        self._timer = asyncio.get_running_loop().call_later(pause, self._try)
        self.due_at = time.time() + pause
        self._changed()

    def _try(self) -> None:
        self._cancel_timer()
        self._attempt = self._start_task(self._connect())

    def take_over(self) -> None:
        """End the pause and a running attempt, because the user connects. The next pauses are short again."""
        self.stop()
        self._pause = FIRST_PAUSE_SECONDS
        if self._connected_at is not None and self._lost_at is None:
            self._lost_at = time.monotonic()

    def stop(self) -> None:
        """End the pause and a running attempt."""
        self._cancel_timer()
        if self._attempt is not None:
            self._attempt.cancel()
            self._attempt = None

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self.due_at = None
