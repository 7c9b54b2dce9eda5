"""Changes of agent options: changes that the agent has not confirmed yet, and why other changes failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    OptionValue = str | bool


class OptionChanges:
    """Sets agent options. A value requested before the agent has answered is sent after the answer."""

    def __init__(
        self, send: Callable[[str, OptionValue], Awaitable[None]], changed: Callable[[], None]
    ) -> None:
        """`send` raises `UserError` if the agent refuses. `changed` is called before and after a change."""
        self._send = send
        self._changed = changed
        self._sending: set[str] = set()
        self.wanted: dict[str, OptionValue] = {}
        """The requested values that the agent has not confirmed yet, by option id."""
        self.failures: dict[str, str] = {}
        """Why the last change of an option failed, as a sentence, by option id."""

    async def change(self, option_id: str, value: OptionValue) -> None:
        """Set an option and wait for the agent.

        If an earlier call for this option still waits, that call handles the new value, and this call returns
        at once.
        """
        self.wanted[option_id] = value
        self.failures.pop(option_id, None)
        self._changed()
        if option_id in self._sending:
            return
        self._sending.add(option_id)
        try:
            await self._send_last(option_id)
        finally:
            self._sending.discard(option_id)
            self.wanted.pop(option_id, None)
            self._changed()

    async def _send_last(self, option_id: str) -> None:
        """Send the requested value to the agent; repeat if another value was requested meanwhile."""
        sent = None
        while sent != (value := self.wanted[option_id]):
            sent = value
            try:
                await self._send(option_id, value)
            except UserError as error:
                self.failures[option_id] = str(error)
            else:
                self.failures.pop(option_id, None)
