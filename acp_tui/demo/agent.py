"""The methods an agent implements: initialization, sign-in, sessions, settings and prompts.

The SDK validates the parameters, calls the method and sends back the result. A `RequestError` becomes
an error response. Methods whose names begin with an underscore, which `Wire` adds to some names, arrive
at `ext_method` and `ext_notification`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from acp import PROTOCOL_VERSION, Client, RequestError, schema, update_user_message

from acp_tui import __version__
from acp_tui.config.paths import write_private
from acp_tui.demo import commands
from acp_tui.demo.conversation_commands import sign_in
from acp_tui.demo.sessions import RAW, OpenSession, SessionStore, Settings, StoredSession
from acp_tui.demo.turn import NO_RUNNING_TURN, EndTurn, Turn

if TYPE_CHECKING:
    from acp.helpers import ContentBlock

    from acp_tui.demo.mcp_client import McpServer
    from acp_tui.demo.wire import Wire

AuthMethod: TypeAlias = schema.EnvVarAuthMethod | schema.TerminalAuthMethod | schema.AuthMethodAgent

AGENT_METHOD_ID = "demo"
SIGN_IN_STEPS = 60
"""How many steps a sign-in takes; the pace setting determines their length."""


class SignIn:
    """Stores whether the user has signed in. It protects nothing: it shows how clients sign in."""

    def __init__(self, folder: Path, *, required: bool) -> None:
        self._file = folder / "signed-in"
        self.required = required

    @property
    def missing(self) -> bool:
        """True if a sign-in is required but has not happened; requests must be refused then."""
        return self.required and not self._file.exists()

    def record(self) -> None:
        """Sign in, also for other processes: the sign-in is stored on disk."""
        write_private(self._file, "No account and no secret: the demo agent only pretends to sign in.\n")

    def clear(self) -> None:
        """Sign out, also for other processes, and require a sign-in from now on."""
        self.required = True
        self._file.unlink(missing_ok=True)

    def methods(self, client: schema.ClientCapabilities) -> list[AuthMethod]:
        """Return the sign-in methods for a client with these capabilities; none if no sign-in is required."""
        if not self.required:
            return []
        description = "Always succeeds: the demo has no accounts"
        agent = schema.AuthMethodAgent(id=AGENT_METHOD_ID, name="Sign in", description=description)
        if not (client.auth and client.auth.terminal):
            return [agent]
        terminal = schema.TerminalAuthMethod(  # for clients that can run a sign-in program in a terminal
            type="terminal",
            id="demo-terminal",
            name="Sign in on a terminal",
            description="Asks one question on a real terminal",
            args=["--sign-in"],
        )
        return [agent, terminal]


class DemoAgent:
    """Implements the SDK's protocol class `acp.Agent`."""

    def __init__(self, wire: Wire, store: SessionStore, sign_in: SignIn, settings: Settings) -> None:
        self._wire = wire
        self._store = store
        self._sign_in = sign_in
        self._settings = settings
        self._capabilities = schema.ClientCapabilities()
        self._sessions: dict[str, OpenSession] = {}
        self._turns: dict[str, Turn] = {}  # the running turn of each session that has one

    def on_connect(self, conn: Client) -> None:
        """Store the connection to the client. The SDK calls `on_connect` first."""
        self._client = conn

    # ------------------------------------------------------------------ initialization

    async def initialize(
        self,
        protocol_version: int,  # noqa: ARG002 - the SDK passes it by name
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,  # noqa: ARG002 - likewise
        **_meta: Any,
    ) -> schema.InitializeResponse:
        """Answer with the demo's protocol version, whatever the client requested.

        The client decides whether it can use that version.
        """
        self._capabilities = client_capabilities or schema.ClientCapabilities()
        session = ("list", "delete", "additionalDirectories", "fork", "resume", "close")
        logout = schema.LogoutCapabilities() if self._sign_in.required else None
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="acp-tui-demo", title="Demo agent", version=__version__),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                session_capabilities=schema.SessionCapabilities.model_validate(
                    {name: {} for name in session}
                ),
                auth=schema.AgentAuthCapabilities(logout=logout),
            ),
            auth_methods=self._sign_in.methods(self._capabilities),
            field_meta={"steering": {"supported": True}},
        )

    async def authenticate(self, method_id: str, **_meta: Any) -> schema.AuthenticateResponse:
        """Sign in with the method `AGENT_METHOD_ID`. The client itself runs the other method."""
        if method_id != AGENT_METHOD_ID:
            raise RequestError.invalid_params({"details": f'"{method_id}" cannot be used with authenticate'})
        page = "https://example.com/acp-tui-demo/device"
        instruction = f"Open {page} and enter the code DEMO-1234. The page is only an example."
        print(instruction, file=sys.stderr, flush=True)
        await asyncio.sleep(SIGN_IN_STEPS * self._settings.delay)
        self._sign_in.record()
        return schema.AuthenticateResponse()

    def _check_sign_in(self) -> None:
        if self._sign_in.missing:
            methods = self._sign_in.methods(self._capabilities)
            raise RequestError.auth_required(
                {"authMethods": [method.model_dump(by_alias=True, exclude_none=True) for method in methods]}
            )

    # ------------------------------------------------------------------ sessions

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **_meta: Any,
    ) -> schema.NewSessionResponse:
        """Start a session with the default settings."""
        self._check_sign_in()
        stored = self._store.create(cwd, additional_directories or [], self._settings)
        session = self._open(stored, mcp_servers)
        return schema.NewSessionResponse(session_id=stored.id, **session.settings_state)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpServer] | None = None,
        additional_directories: list[str] | None = None,
        **_meta: Any,
    ) -> schema.LoadSessionResponse:
        """Reopen a session and replay its history before answering."""
        session = self._reopen(session_id, cwd, additional_directories, mcp_servers)
        for update in session.stored.history.updates:
            if update["sessionUpdate"] == RAW:
                await self._wire.notify("session/update", update["params"])
            else:
                params = {"sessionId": session_id, "update": update}
                await session.send(schema.SessionNotification.model_validate(params).update)
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
        session = self._reopen(session_id, cwd, additional_directories, mcp_servers)
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
        self._check_sign_in()
        original = self._sessions[session_id].stored if session_id in self._sessions else None
        copy = self._store.fork(original or self._store.load(session_id), cwd, additional_directories or [])
        session = self._open(copy, mcp_servers)
        return schema.ForkSessionResponse(session_id=copy.id, **session.settings_state)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_meta: Any
    ) -> schema.ListSessionsResponse:
        """Return one page of the sessions that have a history, most recent first."""
        self._check_sign_in()
        page, next_cursor = self._store.list_page(cwd, cursor)
        sessions = [
            schema.SessionInfo(
                session_id=stored.id,
                cwd=stored.cwd,
                additional_directories=stored.directories,
                title=stored.title,
                updated_at=stored.updated_at,
            )
            for stored in page
        ]
        return schema.ListSessionsResponse(sessions=sessions, next_cursor=next_cursor)

    async def close_session(self, session_id: str, **_meta: Any) -> schema.CloseSessionResponse:
        """Stop the running turn and close the session. The session stays on disk."""
        await self._close(self._open_session(session_id))
        return schema.CloseSessionResponse()

    async def _close(self, session: OpenSession) -> None:
        await session.close()
        self._sessions.pop(session.stored.id, None)

    def _open(self, stored: StoredSession, mcp_servers: list[McpServer] | None) -> OpenSession:
        session = self._sessions[stored.id] = OpenSession(
            stored, self._client, self._capabilities, self._sign_in.clear, mcp_servers or []
        )
        self._wire.call_after_response(lambda: session.run_in_background(_send_initial_state(session)))
        return session

    def _reopen(
        self, session_id: str, cwd: str, directories: list[str] | None, mcp_servers: list[McpServer] | None
    ) -> OpenSession:
        self._check_sign_in()
        if session_id in self._turns:
            raise RequestError(-32600, "A turn is already running in this session")
        stored = self._store.load(session_id)
        stored.cwd, stored.directories = cwd, directories or []
        return self._open(stored, mcp_servers)

    def _open_session(self, session_id: str) -> OpenSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError(-32002, f"Session is not open: {session_id}", {"sessionId": session_id})
        return session

    # ------------------------------------------------------------------ settings

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_meta: Any
    ) -> schema.SetSessionModeResponse:
        """Change the mode. Send the client the mode and the config options, one of which repeats the mode."""
        session = self._open_session(session_id)
        session.stored.settings.set("mode", mode_id)
        self._store.save(session.stored)
        await session.send_settings()
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_meta: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Change an option and return all options, because changing an option can change others."""
        session = self._open_session(session_id)
        session.stored.settings.set(config_id, value)
        self._store.save(session.stored)
        if config_id == "mode":
            await session.send_settings()
        if config_id == "model":
            await session.send_usage()
        return schema.SetSessionConfigOptionResponse(config_options=session.config_options)

    # ------------------------------------------------------------------ prompts

    async def prompt(self, session_id: str, prompt: list[ContentBlock], **meta: Any) -> schema.PromptResponse:
        """Answer a prompt. The work runs in a separate task, which can be cancelled at any point."""
        session = self._open_session(session_id)
        if session_id in self._turns:
            raise RequestError(-32600, "A turn is already running in this session")
        turn = Turn(session, self._wire, prompt, meta)
        if turn.text.split()[:1] == [f"/{sign_in.name}"]:
            self._sign_in.required = True
        self._check_sign_in()
        self._turns[session_id] = turn
        start = len(session.stored.history.updates)
        session.turn_task = asyncio.create_task(self._run_turn(turn))
        try:
            reason: schema.StopReason = await session.turn_task
        except asyncio.CancelledError:
            if turn.request_cancelled:
                raise RequestError(-32800, "Request cancelled") from None
            reason = "cancelled"
        finally:
            del self._turns[session_id]
            session.turn_task = None
            session.stored.history.fail_open_calls()
            # Do not save a session that was deleted during the turn.
            if self._sessions.get(session_id) is session:
                self._store.save(session.stored)
        if reason == "refusal":
            # A refused prompt and the refusal are removed from the conversation.
            del session.stored.history.updates[start:]
            self._store.save(session.stored)
        return schema.PromptResponse(stop_reason=reason, usage=turn.token_usage)

    async def _run_turn(self, turn: Turn) -> schema.StopReason:
        for block in turn.blocks:
            turn.store_update(update_user_message(block))
        await self._set_title(turn)
        self._store.save(turn.stored)  # the prompt must survive a crash during the turn
        try:
            reason = await commands.answer(turn)
        except EndTurn as end:
            reason = end.reason
        await turn.answer_steering()
        await turn.send_usage()
        return reason

    async def _set_title(self, turn: Turn) -> None:
        """Use the prompt as the title of a session that has no title yet."""
        stored = turn.stored
        if stored.title is None and (text := " ".join(turn.text.split())):
            stored.title = text if len(text) <= 60 else text[:59] + "…"
            info = schema.SessionInfoUpdate(
                session_update="session_info_update", title=stored.title, updated_at=stored.updated_at
            )
            await turn.send_update(info)

    async def cancel(self, session_id: str, **_meta: Any) -> None:
        """Cancel a subagent or the running turn of a session, whose prompt is answered with `cancelled`."""
        for open_session in self._sessions.values():
            open_session.cancel_subagent(session_id)
        session = self._sessions.get(session_id)
        turn = self._turns.get(session_id)
        if session is not None and not (turn and turn.ignores_cancel):
            session.cancel()

    # ------------------------------------------------------------------ beyond the SDK's router

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Handle `_session/steering`, and what `Wire` passes on: `session/delete` and `logout`."""
        if method == "session/steering":
            turn = self._turns.get(params["sessionId"])
            return turn.steer(params["prompt"]) if turn is not None else NO_RUNNING_TURN
        if method == "session/delete" and isinstance(params.get("sessionId"), str):
            self._check_sign_in()
            if params["sessionId"] in self._sessions:
                await self._close(self._sessions[params["sessionId"]])
            self._store.delete(params["sessionId"])
        elif method == "logout" and self._sign_in.required:
            self._sign_in.clear()
        else:
            raise RequestError.method_not_found(method)
        return {}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Handle `$/cancel_request` for prompts. Other requests cannot be cancelled."""
        if method != "$/cancel_request":
            return
        for turn in self._turns.values():
            if turn.request_id == params.get("requestId"):
                turn.request_cancelled = True
                turn.session.cancel()


async def _send_initial_state(session: OpenSession) -> None:
    """Send the available commands and the usage. The client must already know the session's id."""
    await session.send(commands.command_list(few=session.few_commands))
    await session.send_usage()
