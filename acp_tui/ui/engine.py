"""The conversation from the screen's side: started behind the first frame, commanded by keys."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.controller import Asker, Conversation
    from acp_tui.controller.turns import Turns
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import Session
    from acp_tui.workbench import Workbench


class Held(Protocol):
    """A conversation that was asked for."""

    workbench: Workbench
    conversation: Conversation

    async def open(self) -> None:
        """Open its session, once its agent runs."""


class Watcher(Protocol):
    """Who sees what happens."""

    def session_made(self, session: Session) -> None:
        """There is a state to look at, still without an agent."""

    def happened(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """A record was taken in."""

    def trouble(self, error: UserError) -> None:
        """Something ended with an error that the user should see."""


class Engine:
    """Owns the conversation of a screen."""

    def __init__(self, make: Callable[[Asker], Held], asker: Asker, watcher: Watcher) -> None:
        self._make = make
        self._asker = asker
        self._watcher = watcher
        self._commands: set[asyncio.Task[Any]] = set()
        self.held: Held | None = None
        self.turns: Turns | None = None

    @property
    def conversation(self) -> Conversation | None:
        """The conversation, once it is there."""
        return self.held.conversation if self.held is not None else None

    # ---- the life of the agent

    async def start(self) -> None:
        """Make the conversation, start the agent, open the session. Nothing of this was imported before."""
        try:
            self.held = held = await asyncio.to_thread(self._make, self._asker)
            from acp_tui.controller.turns import Turns

            conversation = held.conversation
            self.turns = Turns(conversation, self._watcher.trouble)
            conversation.listen(self._watcher.happened)
            self._watcher.session_made(conversation.session)
            await conversation.start()
            await held.open()
            self.turns.opened()
        except UserError as error:
            self._watcher.trouble(error)

    async def restart(self) -> None:
        """Start the agent again, also a dead one."""
        if self.held is None:
            await self.start()
            return
        assert self.turns is not None
        self.turns.closed()
        try:
            if self.held.conversation.session.session_id is None:
                await self.held.conversation.reconnect()
                await self.held.open()
            else:
                await self.held.conversation.restart()
            self.turns.opened()
        except UserError as error:
            self._watcher.trouble(error)

    async def close(self) -> None:
        """End everything."""
        for task in self._commands:
            task.cancel()
        if self.held is not None:
            await self.held.conversation.close()
            await asyncio.to_thread(self.held.workbench.prune)

    # ---- commands

    def do(self, command: Callable[[Conversation], Any]) -> None:
        """Have the conversation do something that takes its time; an error is told."""
        if self.held is not None:
            task = asyncio.create_task(self._do(command(self.held.conversation)))
            self._commands.add(task)
            task.add_done_callback(self._commands.discard)

    async def _do(self, command: Any) -> None:
        try:
            await command
        except UserError as error:
            self._watcher.trouble(error)

    async def stop_turn(self) -> None:
        """Cancel the turn; the agent ends it."""
        if self.conversation is not None:
            with suppress(UserError):
                await self.conversation.cancel()
