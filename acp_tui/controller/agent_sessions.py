"""Lists and deletes the sessions that an agent stores, if the agent supports listing and deleting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.connection.agent_connection import AgentConnection
from acp_tui.controller.recorder import Recorder
from acp_tui.errors import Refusal
from acp_tui.session.record import METHOD_NOT_FOUND
from acp_tui.session.safe_text import escape_line
from acp_tui.store.session_folder import NullFolder

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch


MAX_PAGES = 100
"""The maximum number of pages to request: a faulty agent might never send a last one."""
MAX_SESSIONS = 5_000
MAX_TITLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session in an agent's list."""

    session_id: str  # as sent
    folder: str  # as sent
    title: str  # safe to display; empty if there is none
    updated: float  # seconds since the epoch; 0 if unknown


class AgentSessions:
    """The sessions of one connected agent."""

    def __init__(self, connection: Callable[[], AgentConnection], cwd: str, timeout: float) -> None:
        """Create an object for an agent.

        Args:
            connection: Returns the agent's current connection.
            cwd: The folder in which the agent works.
            timeout: The time limit of each request, in seconds.
        """
        self._connection = connection
        self._cwd = cwd
        self._timeout = timeout

    @property
    def can_list(self) -> bool:
        """True if the agent can list its sessions."""
        return self._can("list")

    @property
    def can_delete(self) -> bool:
        """True if the agent can delete sessions on request."""
        return self._can("delete")

    async def list_all(self) -> list[ListedSession]:
        """Request the list of sessions page by page, and return the sessions. Raises `UserError`.

        At most `MAX_PAGES` pages are requested, and at most `MAX_SESSIONS` sessions are returned. If the list
        is empty, the sessions of the agent's folder are requested: kimi-cli lists sessions by folder only.
        """
        return await self._list(None) or await self._list(self._cwd)

    async def _list(self, cwd: str | None) -> list[ListedSession]:
        found: dict[str, ListedSession] = {}
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            answer = await self._connection().list_sessions(cursor, cwd, timeout=self._timeout)
            page = answer.get("sessions")
            for item in page if isinstance(page, list) else ():
                if (session := _listed_session(item)) is not None:
                    found[session.session_id] = session
            cursor = answer.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen or len(found) > MAX_SESSIONS:
                break
            seen.add(cursor)
        return list(found.values())[:MAX_SESSIONS]

    async def delete(self, session_id: str) -> None:
        """Delete a session. Raises `UserError`."""
        await self._connection().delete_session(session_id, timeout=self._timeout)

    def _can(self, capability: str) -> bool:
        agent = self._connection().session.agent
        return agent is not None and agent.can("sessionCapabilities", capability)


@asynccontextmanager
async def start_for_sessions(launch: Launch, cwd: Path, timeout: float) -> AsyncIterator[AgentSessions]:
    """Start an agent only to list or delete its sessions. End the agent when the context exits.

    Raises `UserError`.

    Args:
        launch: The agent.
        cwd: The folder in which the agent starts.
        timeout: The time limit of each request, in seconds.
    """
    recorder = Recorder(NullFolder())
    connection = await AgentConnection.start(
        launch,
        str(cwd),
        session=recorder.session,
        observe=recorder.observe,
        serve=_refuse,
        on_exit=lambda _: None,
    )
    try:
        await connection.initialize({}, timeout=timeout)
        yield AgentSessions(lambda: connection, launch.session_folder(str(cwd)), timeout)
    finally:
        await connection.close()


async def _refuse(*_: Any) -> Any:
    """Refuse any request from the agent, because no session is open."""
    raise Refusal(METHOD_NOT_FOUND, "There is no session.")


def _listed_session(item: Any) -> ListedSession | None:
    match item:
        case {"sessionId": str() as session_id} if session_id:
            folder, title = item.get("cwd"), item.get("title")
            title = title[:MAX_TITLE_CHARACTERS] if isinstance(title, str) else ""
            return ListedSession(
                session_id,
                folder if isinstance(folder, str) else "",
                escape_line(" ".join(title.split())),
                _seconds(item.get("updatedAt")),
            )
    return None


def _seconds(moment: Any) -> float:
    """Return an ISO 8601 time in seconds since the epoch; 0 if it is not valid. The default zone is UTC."""
    if not isinstance(moment, str):
        return 0.0
    try:
        parsed = datetime.fromisoformat(moment)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
