"""The methods that an agent implements: initialization, sessions, settings and prompts.

The SDK validates the parameters, calls the method and sends back the result. A `RequestError` becomes an
error response. Methods that the SDK does not know arrive at `ext_method` and `ext_notification`, see `Wire`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import PROTOCOL_VERSION, Client, RequestError, schema

from acp_tui import __version__
from acp_tui.local_agent.commands import available_commands
from acp_tui.local_agent.instructions import DEFAULT_MODE, MODES
from acp_tui.local_agent.models import Models
from acp_tui.local_agent.redaction import Redactor, is_secret_name
from acp_tui.local_agent.session import Session, answer_open_calls
from acp_tui.local_agent.storage import SessionStore, StoredSession, UnknownSession
from acp_tui.local_agent.turn import Turn

if TYPE_CHECKING:
    from acp.helpers import ContentBlock

    from acp_tui.local_agent.mcp_servers import McpServer
    from acp_tui.local_agent.settings import Settings
    from acp_tui.local_agent.wire import Wire

OPTIONS_SECONDS = 1.5
"""How long the answer to `session/new` waits for the list of models. A longer list follows as an update."""


class LocalAgent:
    """Implements the SDK's protocol class `acp.Agent`."""

    def __init__(self, wire: Wire, settings: Settings) -> None:
        self._wire = wire
        self._settings = settings
        self._redactor = Redactor(settings.secrets)
        self._store = SessionStore(settings.data_dir / "sessions", self._redactor)
        self._models = Models(settings.profiles)
        self._capabilities = schema.ClientCapabilities()
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}  # the running turn of each session that has one
        self._background: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Client) -> None:
        """Store the connection to the client. The SDK calls `on_connect` first."""
        self._client = conn

    async def close(self) -> None:
        """End all turns, commands and MCP servers."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*(self._close(session) for session in list(self._sessions.values())))
        await self._models.close()

    # ------------------------------------------------------------------ initialization

    async def initialize(
        self,
        protocol_version: int,  # noqa: ARG002 - the SDK passes it by name
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,  # noqa: ARG002 - likewise
        **_meta: Any,
    ) -> schema.InitializeResponse:
        """Answer with version 1, whatever the client requested; the client decides whether it can use that.

        The model library is loaded only now, so that the answer does not wait for it.
        """
        self._capabilities = client_capabilities or schema.ClientCapabilities()
        self._wire.call_after_response(self._models.load)
        session = ("list", "delete", "additionalDirectories", "fork", "resume", "close")
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="acp-tui-local", title="Local agent", version=__version__),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                session_capabilities=schema.SessionCapabilities.model_validate(
                    {name: {} for name in session}
                ),
            ),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **_meta: Any) -> None:
        """Refuse: keys of models are in the environment, so there is nothing to sign in to."""
        raise RequestError.invalid_params({"details": f"There is no sign-in method {method_id!r}"})

    # ------------------------------------------------------------------ sessions

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **_meta: Any,
    ) -> schema.NewSessionResponse:
        """Start a session with the first model and the first mode."""
        _check_folders(cwd, additional_directories)
        stored = self._store.create(cwd, additional_directories or [], DEFAULT_MODE, self._models.default_key)
        session = await self._open(stored, mcp_servers)
        return schema.NewSessionResponse(session_id=session.id, **session.settings_state)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpServer] | None = None,
        additional_directories: list[str] | None = None,
        **_meta: Any,
    ) -> schema.LoadSessionResponse:
        """Reopen a session and replay its history before answering."""
        session = await self._reopen(session_id, cwd, additional_directories, mcp_servers)
        for update in session.stored.replay():
            if update["sessionUpdate"] != "compaction_update" or session.updates.can_show_compaction:
                session.updates.replay(update)
                await session.updates.drain()
        return schema.LoadSessionResponse(**session.settings_state)

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **_meta: Any,
    ) -> schema.ResumeSessionResponse:
        """Reopen a session without replaying its history."""
        session = await self._reopen(session_id, cwd, additional_directories, mcp_servers)
        return schema.ResumeSessionResponse(**session.settings_state)

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **_meta: Any,
    ) -> schema.ForkSessionResponse:
        """Start a session with a copy of another session's history and settings."""
        _check_folders(cwd, additional_directories)
        await asyncio.shield(self._models.load())
        opened = self._sessions.get(session_id)
        original = opened.stored if opened is not None else self._load(session_id)
        copy = self._store.fork(original, cwd, additional_directories or [])
        session = await self._open(copy, mcp_servers)
        return schema.ForkSessionResponse(session_id=session.id, **session.settings_state)

    async def list_sessions(
        self,
        cwd: str | None = None,
        cursor: str | None = None,  # noqa: ARG002 - there is only one page
        **_meta: Any,
    ) -> schema.ListSessionsResponse:
        """Return the sessions that had a prompt, most recent first."""
        sessions = [
            schema.SessionInfo(
                session_id=meta.id,
                cwd=meta.cwd,
                additional_directories=meta.directories,
                title=meta.title,
                updated_at=meta.updated_at,
            )
            for meta in self._store.list_all(cwd)
        ]
        return schema.ListSessionsResponse(sessions=sessions)

    async def close_session(self, session_id: str, **_meta: Any) -> schema.CloseSessionResponse:
        """Cancel the turn of a session, and free what it holds. It can be loaded again."""
        await self._close(self._session(session_id))
        return schema.CloseSessionResponse()

    async def _close(self, session: Session) -> None:
        del self._sessions[session.id]
        if (turn := self._turns.get(session.id)) is not None:
            turn.cancel()
            await turn.ended()
        await session.close()

    async def _open(self, stored: StoredSession, mcp_servers: Sequence[McpServer] | None) -> Session:
        await asyncio.shield(self._models.load())
        if (
            results := answer_open_calls(stored.messages, "Interrupted: the turn was not finished.")
        ) is not None:
            stored.add_message(results)
        models = asyncio.create_task(self._models.refresh())
        self._background.add(models)
        models.add_done_callback(self._background.discard)
        await asyncio.wait([models], timeout=OPTIONS_SECONDS)
        stored.meta.model = self._models.known_or_default(stored.meta.model)
        self._redactor.add(_secrets(mcp_servers or ()))
        session = Session(
            stored, self._client, self._capabilities, self._wire, self._models, available_commands
        )
        self._sessions[session.id] = session
        is_listed = models.done()
        self._wire.call_after_response(lambda: self._announce(session, None if is_listed else models))
        session.start_mcp_servers(mcp_servers or ())
        return session

    def _announce(self, session: Session, models: asyncio.Task[None] | None) -> None:
        """Send a new session's state. `models` is set if the list of models has not arrived yet."""
        for problem in self._settings.problems:
            session.updates.notice(problem, severity="warning")
        session.announce()
        if models is not None:
            models.add_done_callback(lambda _: session.updates.options(session.config_options))

    async def _reopen(
        self,
        session_id: str,
        cwd: str,
        directories: list[str] | None,
        mcp_servers: list[McpServer] | None,
    ) -> Session:
        _check_folders(cwd, directories)
        if session_id in self._turns:
            raise RequestError(-32600, "A turn is running in this session")
        if session_id in self._sessions:
            await self._close(self._sessions[session_id])
        await asyncio.shield(self._models.load())
        stored = self._load(session_id)
        stored.meta.cwd, stored.meta.directories = cwd, directories or []
        return await self._open(stored, mcp_servers)

    def _load(self, session_id: str) -> StoredSession:
        try:
            return self._store.load(session_id)
        except UnknownSession:
            raise _unknown(session_id) from None

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise _unknown(session_id)
        return session

    # ------------------------------------------------------------------ settings

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_meta: Any
    ) -> schema.SetSessionModeResponse:
        """Change the mode, which is a config option as well."""
        session = self._session(session_id)
        await self.set_config_option("mode", session_id, mode_id)
        session.updates.options(session.config_options)
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_meta: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Change the mode or the model, and return all options."""
        session = self._session(session_id)
        if config_id == "mode" and value in MODES:
            session.set_mode(str(value))
        elif config_id == "model" and (key := self._models.find(str(value))) is not None:
            session.set_model(key)
        else:
            raise RequestError.invalid_params({"details": f"{config_id} cannot be set to {value!r}"})
        return schema.SetSessionConfigOptionResponse(config_options=session.config_options)

    # ------------------------------------------------------------------ prompts

    async def prompt(
        self, session_id: str, prompt: list[ContentBlock], **_meta: Any
    ) -> schema.PromptResponse:
        """Answer a prompt. The work runs in a task of its own, which can be cancelled at any point."""
        session = self._session(session_id)
        if session_id in self._turns:
            raise RequestError(-32600, "A turn is already running in this session")
        turn = Turn(session, prompt, self._settings.max_rounds, self._wire.request_id)
        self._turns[session_id] = turn
        try:
            await turn.ended()
        finally:
            del self._turns[session_id]
        reason = turn.stop_reason()
        await session.updates.flush()
        return schema.PromptResponse(stop_reason=reason, usage=turn.usage)

    async def cancel(self, session_id: str, **_meta: Any) -> None:
        """Cancel the running turn of a session, whose prompt is answered with `cancelled`."""
        if (turn := self._turns.get(session_id)) is not None:
            turn.cancel()

    # ------------------------------------------------------------------ beyond the SDK's router

    async def ext_method(self, method: str, params: Any) -> dict[str, Any]:
        """Handle `session/delete`, which `Wire` passes on."""
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        if method != "session/delete" or not isinstance(session_id, str):
            raise RequestError.method_not_found(f"_{method}")
        if (session := self._sessions.get(session_id)) is not None:
            await self._close(session)
        self._store.delete(session_id)
        return {}

    async def ext_notification(self, method: str, params: Any) -> None:
        """Handle `$/cancel_request` for prompts. Other requests are answered at once."""
        if method == "$/cancel_request" and isinstance(params, dict):
            for turn in list(self._turns.values()):
                if turn.request_id == params.get("requestId"):
                    turn.cancel()


def _check_folders(cwd: str, directories: Sequence[str] | None) -> None:
    for folder in (cwd, *(directories or ())):
        if not Path(folder).is_absolute():
            raise RequestError.invalid_params({"details": f"{folder} is not an absolute path"})


def _unknown(session_id: str) -> RequestError:
    return RequestError(-32002, f"Unknown session: {session_id}", {"sessionId": session_id})


def _secrets(servers: Sequence[McpServer]) -> list[str]:
    """Return the secret values among the variables and headers that MCP servers get."""
    return [
        pair.value.removeprefix("Bearer ")
        for server in servers
        for pair in (getattr(server, "env", None) or getattr(server, "headers", None) or ())
        if is_secret_name(pair.name)
    ]
