"""Opens the session of a conversation: a new session, or a session that the agent has stored."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from acp_tui.connection.errors import NotSupported, RequestFailed, SignInNeeded
from acp_tui.connection.params import SessionSetup
from acp_tui.controller.mcp.bridge_offer import is_signed_in
from acp_tui.controller.mcp.token_headers import add_tokens
from acp_tui.controller.opening.parameters import (
    McpServerStatus,
    not_sent,
    not_used_sentence,
    session_parameters,
)
from acp_tui.controller.opening.settings_restore import restore_settings
from acp_tui.errors import UserError
from acp_tui.session.error_codes import REQUEST_CANCELLED
from acp_tui.session.events import HistoryCompleted, Noticed
from acp_tui.session.state import TurnEnd

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from acp_tui.agents.launch import Launch
    from acp_tui.config.mcp import Server, UnsentServer
    from acp_tui.connection.agent_connection import AgentConnection
    from acp_tui.controller.changes.baseline_tracker import BaselineTracker
    from acp_tui.controller.mcp.bridge_offer import BridgeOffer
    from acp_tui.controller.own_server.offer import OwnServerOffer
    from acp_tui.controller.recorder import Recorder
    from acp_tui.controller.slow_step_notice import SlowStepNotices
    from acp_tui.session.state import Agent, Session
    from acp_tui.store.session_folder import NullFolder, SessionFolder
    from acp_tui.workspace.files.roots import Roots

QUIET_SECONDS = 0.3
"""A replayed history counts as complete when nothing has arrived for this long."""
PROMPT_MISSING_SECONDS = 1.0
"""Used instead of `QUIET_SECONDS` while the replay lacks the last known prompt, which may be late."""
CLOSE_SECONDS = 2.0
"""The longest wait for the answer to `session/close`. The agent's process is ended afterwards."""
LATE_HISTORY_SECONDS = 10.0
"""The longest wait for a history that some agents send after answering `session/load`."""


class CannotReopen(NotSupported):
    """The agent can neither resume nor load sessions."""


class SessionOpener:
    """Opens sessions with folders and MCP servers, and restores the sessions' settings."""

    def __init__(
        self,
        launch: Launch,
        connection: Callable[[], AgentConnection],
        recorder: Recorder,
        folder: SessionFolder | NullFolder,
        roots: Roots,
        servers: Sequence[Server],
        withheld_servers: Sequence[UnsentServer],
        own_server: OwnServerOffer,
        bridges: BridgeOffer,
        baseline: BaselineTracker,
        wait_notices: SlowStepNotices,
        *,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self.mcp_servers: list[McpServerStatus] = []
        """The MCP servers in the settings, and whether each was sent to the agent."""
        self._launch = launch
        self._connection = connection
        self._recorder = recorder
        self._note = recorder.note
        self._folder = folder
        self._roots = roots
        self._servers = servers
        self._withheld_servers = withheld_servers
        self._own_server = own_server
        self._bridges = bridges
        self._baseline = baseline
        self._wait_notices = wait_notices
        self._timeout = timeout  # of each request, in seconds
        self._clock = clock

    @property
    def _session(self) -> Session:
        return self._recorder.session

    async def open_new(self) -> None:
        """Start a new session."""
        self._baseline.begin()
        reopened = bool(self._session.settings)
        setup = await self._setup()
        async with self._wait_notices.during("to open a session"):
            await self._connection().new_session(setup, timeout=self._timeout)
        await self._opened(reopened)

    async def open_known(self, session_id: str) -> None:
        """Reopen a session stored by the agent, with `session/resume` or else with `session/load`.

        A session that acp-tui has not recorded is loaded if possible, because its history is needed.
        """
        agent = self._session.agent
        if agent is None or not agent.can_resume:
            raise CannotReopen(f"{self._launch.title} can neither resume nor load a session.")
        self._baseline.begin()
        reopened = bool(self._session.settings)
        load_ended = await self._reopen(session_id, await self._setup())
        await self._opened(reopened)
        await load_ended()

    async def _reopen(self, session_id: str, setup: SessionSetup) -> Callable[[], Awaitable[None]]:
        """Resume or load a session. Return a function that waits until its history has been replayed."""
        agent = self._session.agent
        assert agent is not None
        loads = agent.can("loadSession") and self._session.session_id is None
        resume = agent.can("sessionCapabilities", "resume") and not loads
        has_prompts = bool(self._session.prompts)
        connection = self._connection()
        call = connection.resume_session if resume else connection.load_session
        async with self._wait_notices.during("to reopen the session"):
            await call(session_id, setup, timeout=self._timeout)

        async def wait_for_history() -> None:
            quiet = PROMPT_MISSING_SECONDS if has_prompts else QUIET_SECONDS
            if await self._late_history(quiet) and not resume:
                self._note(HistoryCompleted())

        return wait_for_history

    async def open_fork(self, session_id: str) -> None:
        """Open a copy of one of the agent's sessions. The agent keeps the original.

        If the agent refuses, reopen the original first: vibe forks only sessions that it has loaded.
        """
        self._baseline.begin()
        reopened = bool(self._session.settings)
        setup = await self._setup()
        connection = self._connection()
        async with self._wait_notices.during("to fork the session"):
            try:
                await connection.fork_session(session_id, setup, timeout=self._timeout)
            except RequestFailed as failure:
                agent = self._session.agent
                is_final = isinstance(failure, SignInNeeded) or failure.error.code == REQUEST_CANCELLED
                if is_final or agent is None or not agent.can_resume:
                    raise
                load_ended = await self._reopen(session_id, setup)
                await load_ended()
                await connection.fork_session(session_id, setup, timeout=self._timeout)
        await self._opened(reopened)

    async def open_again(self) -> None:
        """Reopen the current session. If the agent cannot reopen the session, start a new one.

        If the agent refuses to reopen a session that it has answered in, raise the `RequestFailed`: the agent
        may succeed later. Gemini finds no session of its first minute.
        """
        session_id = self._session.session_id
        try:
            if session_id is not None:
                await self.open_known(session_id)
                return
        except SignInNeeded:
            raise
        except NotSupported as error:
            if self._session.prompts:
                self._note(Noticed("warning", str(error)))
        except RequestFailed as failure:  # many agents save a session only after its first answer
            if failure.error.code == REQUEST_CANCELLED or self._has_answer:
                raise
        await self.open_new()

    @property
    def _has_answer(self) -> bool:
        """Whether a turn has ended normally in the current session."""
        entries = self._session.entries[self._session.forgotten :]
        return any(isinstance(entry, TurnEnd) and entry.stop_reason == "end_turn" for entry in entries)

    async def close_session(self) -> None:
        """Ask the agent to close the session, if the agent can close sessions. Errors are ignored."""
        session = self._session
        can_close = session.agent is not None and session.agent.can("sessionCapabilities", "close")
        if session.session_id is not None and can_close and session.phase != "dead":
            with suppress(UserError):
                await self._connection().close_session(session.session_id, timeout=CLOSE_SECONDS)

    async def _setup(self) -> SessionSetup:
        """Return the folders and MCP servers for the session. Warn about those that the agent cannot use."""
        agent = self._session.agent
        assert agent is not None
        found = session_parameters(
            agent, self._launch, self._roots.directories[1:], self._servers, is_signed_in
        )
        self.mcp_servers = [*found.statuses, *map(not_sent, self._withheld_servers)]
        problems = [unsent for unsent in self._withheld_servers if not unsent.intended]
        for sentence in [*found.warnings, *map(not_used_sentence, problems)]:
            self._note(Noticed("warning", sentence))
        sent = await self._bridges.objects(found.servers)
        for notice in await add_tokens(sent, self._servers):
            self._note(notice)
        servers = [*sent, *await self._own_servers(agent, sent)]
        return SessionSetup(str(self._roots.cwd), found.directories, servers)

    async def _own_servers(self, agent: Agent, others: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a list with acp-tui's own MCP server; an empty list if the agent does not get the server."""
        try:
            server = await self._own_server.server(agent)
        except UserError as error:
            self._note(Noticed("warning", str(error)))
            return []
        if server is None:
            return []
        if any(other["name"] == server["name"] for other in others):
            sentence = "acp-tui's own MCP server is not used: a server in your settings has the same name."
            self._note(Noticed("warning", sentence))
            return []
        self.mcp_servers.append(McpServerStatus(server["name"], server.get("type", "stdio")))
        return [server]

    async def _opened(self, reopened: bool) -> None:
        """Save the session's id. With `reopened`, restore the settings that the session had before."""
        self._folder.update_meta(
            session_id=self._session.session_id,
            cwd=str(self._roots.cwd),
            directories=[str(directory) for directory in self._roots.directories[1:]],
        )
        if not reopened:
            return
        async with self._wait_notices.during("to restore the session's settings"):
            await restore_settings(self._connection(), self._session, self._note, timeout=self._timeout)

    async def _late_history(self, quiet_seconds: float) -> bool:
        """Wait for a history that the agent sends only after its answer to `session/load`.

        The history is complete when it contains the last known prompt, or when nothing has arrived for
        `quiet_seconds`. No prompt may be sent until then. Return False if the history was not complete
        within `LATE_HISTORY_SECONDS`.
        """
        deadline = self._clock() + LATE_HISTORY_SECONDS
        while not self._session.history_complete and self._clock() < deadline:
            heard_at = self._session.heard_at
            await asyncio.sleep(quiet_seconds)
            if self._session.heard_at == heard_at:
                return True
        return self._session.history_complete
