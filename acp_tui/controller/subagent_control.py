"""Stops single subagents, if the agent supports that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.connection.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.connection.agent_connection import AgentConnection
    from acp_tui.session.state import Session


class SubagentControl:
    """Stops the subagents of one conversation."""

    def __init__(self, session: Session, connection: Callable[[], AgentConnection]) -> None:
        self._session = session
        self._connection = connection

    async def stop(self, key: str) -> None:
        """Ask a subagent to stop, and cancel its pending requests. Other agents continue.

        Raises `NotSupported` if the agent cannot stop this subagent.
        """
        subagent = self._session.subagents[key]
        if not subagent.can_cancel:
            raise NotSupported(
                f"{subagent.name} cannot be stopped separately: the agent does not support that."
            )
        session = self._session
        pending = [each.request_id for each in session.permissions.values() if each.subagent == key]
        pending += [each.request_id for each in session.elicitations.values() if each.subagent == key]
        await self._connection().cancel(subagent.session_id)
        self._connection().withdraw_requests(pending)
