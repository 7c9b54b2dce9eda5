"""Stops single subagents, where the agent offers that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.connection.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.connection.agent_connection import AgentConnection
    from acp_tui.session.state import Session


class SubagentControl:
    """Sends commands to the subagents of one conversation."""

    def __init__(self, session: Session, connection: Callable[[], AgentConnection]) -> None:
        self._session = session
        self._connection = connection

    async def stop(self, key: str) -> None:
        """Ask a subagent to stop, and answer its pending requests. The other agents go on."""
        subagent = self._session.subagents[key]
        if not subagent.can_cancel:
            raise NotSupported(f"{subagent.name} cannot be stopped by itself: the agent does not offer that.")
        asked = self._session.permissions.values()
        pending = [permission.request_id for permission in asked if permission.subagent == key]
        await self._connection().cancel(subagent.session_id)
        self._connection().withdraw_requests(pending)
