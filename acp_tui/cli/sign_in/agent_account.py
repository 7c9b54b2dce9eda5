"""An agent that runs only to sign in or out: it gets no files, no terminals and no MCP servers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from acp_tui.cli.sign_in.dialogue import has_terminal
from acp_tui.connection.agent_connection import AgentConnection
from acp_tui.connection.errors import SignInNeeded
from acp_tui.connection.params import SessionSetup
from acp_tui.controller.recorder import Recorder
from acp_tui.errors import Refusal
from acp_tui.session.error_codes import METHOD_NOT_FOUND
from acp_tui.session.events import Noise, TextChunk
from acp_tui.store.session_folder import NullFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.agents.launch import Launch
    from acp_tui.cli.sign_in.dialogue import SignInDialogue
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import AuthMethod, RequestId, Session

INITIALIZE_SECONDS = 300.0
"""Seconds that the agent may take to start. This is long because the agent may have to be downloaded."""
OPEN_SECONDS = 60.0

DECLINED: dict[str, dict[str, Any]] = {
    "session/request_permission": {"outcome": {"outcome": "cancelled"}},
    "elicitation/create": {"action": "decline"},
}
"""Results, by method, that decline an agent's questions to the user during a sign-in or sign-out.

Requests with other methods are answered with an error.
"""


class AgentAccount:
    """The user's account with one agent. The messages to and from the agent are not recorded."""

    def __init__(self, launch: Launch, cwd: str, dialogue: SignInDialogue) -> None:
        self.launch = launch
        self.cwd = cwd
        self._dialogue = dialogue
        self._recorder = Recorder(NullFolder())
        self._recorder.listen(self._show_text)
        self._agent: AgentConnection | None = None

    @property
    def session(self) -> Session:
        """The state reported by the agent so far, such as its sign-in methods."""
        return self._recorder.session

    @property
    def methods(self) -> list[AuthMethod]:
        """The agent's sign-in methods."""
        return self.session.agent.auth_methods if self.session.agent is not None else []

    @property
    def _connection(self) -> AgentConnection:
        assert self._agent is not None, "not started"
        return self._agent

    async def start(self) -> None:
        """Start the agent, or start it again."""
        await self.close()
        self._agent = await AgentConnection.start(
            self.launch,
            self.cwd,
            session=self.session,
            observe=self._recorder.observe,
            serve=_serve,
            on_exit=lambda _: None,
            stderr=self._dialogue.agent_stderr,
        )
        capabilities: dict[str, Any] = {}
        if has_terminal():
            capabilities = {"auth": {"terminal": True}, "_meta": {"terminal-auth": True}}
        await self._agent.initialize(capabilities, timeout=INITIALIZE_SECONDS)
        reported = self.session.agent
        if reported is not None and self.launch.title == self.launch.name:  # only the program's name is known
            self.launch.title = self._agent.title = reported.title or reported.name or self.launch.title

    async def sign_in(self, method: AuthMethod) -> None:
        """Let the agent sign in, without a timeout.

        If this call is cancelled, the request to the agent is cancelled, too.
        """
        await self._connection.authenticate(method.id)

    async def sign_out(self) -> None:
        """Sign out. Raises `NotSupported` if the agent does not support signing out."""
        await self._connection.logout()

    async def opens_session(self) -> bool:
        """Open a session as a test. Return False if the agent still requires a sign-in.

        Some agents answer that a sign-in succeeded although it did not.
        """
        try:
            await self._connection.new_session(SessionSetup(self.cwd), timeout=OPEN_SECONDS)
        except SignInNeeded:
            return False
        return True

    def _show_text(self, _record: Record, events: Sequence[Event], _changes: Sequence[Change]) -> None:
        for event in events:
            if isinstance(event, TextChunk):
                self._dialogue.agent_text(event.text)
            elif isinstance(event, Noise):
                self._dialogue.agent_text(f"{event.text}\n")

    async def close(self) -> None:
        """End the agent if it is running. `start` may be called again."""
        if self._agent is not None:
            agent, self._agent = self._agent, None
            await agent.close()


async def _serve(method: str, _params: Any, _request_id: RequestId) -> dict[str, Any]:
    with suppress(KeyError):
        return DECLINED[method]
    raise Refusal(METHOD_NOT_FOUND, f"{method} is not available while signing in")
