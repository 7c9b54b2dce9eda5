"""Every call of the protocol, each guarded by what the agent advertised."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from acp_tui import __version__
from acp_tui.connection.errors import ConnectionFault, NotOffered, RequestFailed, VersionMismatch
from acp_tui.connection.link import Link
from acp_tui.connection.params import build_params, mcp_servers, prompt_blocks
from acp_tui.protocol import draft
from acp_tui.session.text import visible_json, visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_tui.session.record import Record
    from acp_tui.session.state import Agent

    Servers = Sequence[Mapping[str, Any]]

PROTOCOL_VERSION = 1
ACCEPTED_VERSIONS = (PROTOCOL_VERSION, "1", "1.0")
MOST_PAGES = 1000
MAKING_SESSIONS = ("session/new", "session/fork")


class AgentConnection(Link):
    """One agent to talk to. `await AgentConnection.start(…)`, then `initialize`, then the rest."""

    dialect: Literal["v1", "0.1.0"] = "v1"

    # ----------------------------------------------------------------- opening

    async def initialize(
        self, capabilities: Mapping[str, Any], *, timeout: float | None = 60.0
    ) -> dict[str, Any]:
        """Agree on a version of the protocol. Raises `VersionMismatch` naming both when there is none."""
        from acp import schema

        params = build_params(
            schema.InitializeRequest,
            protocolVersion=PROTOCOL_VERSION,
            clientCapabilities=dict(capabilities),
            clientInfo={"name": "acp-tui", "title": "acp-tui", "version": __version__},
        )
        try:
            result = _object(await self.call("initialize", params, timeout=timeout))
        except RequestFailed as failure:
            if not draft.wants_draft(failure.error):
                raise
            return await self._initialize_draft(params, timeout)
        version = result.get("protocolVersion", PROTOCOL_VERSION)
        if draft.is_draft(version):
            return await self._initialize_draft(params, timeout)
        if version not in ACCEPTED_VERSIONS:
            raise self._mismatch(version)
        return result

    async def _initialize_draft(self, params: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        result = _object(
            await self.call("initialize", {**params, "protocolVersion": draft.VERSION}, timeout=timeout)
        )
        version = result.get("protocolVersion", draft.VERSION)
        if not draft.is_draft(version):
            raise self._mismatch(version)
        self.dialect = "0.1.0"
        return result

    def _mismatch(self, version: Any) -> VersionMismatch:
        theirs = visible_line(version) if isinstance(version, str) else visible_json(version)
        return VersionMismatch(
            f"{self.title} speaks version {theirs} of the Agent Client Protocol; "
            f"acp-tui supports version {PROTOCOL_VERSION} and the draft {draft.VERSION}.",
            self.stderr_tail(),
        )

    async def authenticate(self, method_id: str) -> None:
        """Sign in; may wait for a login elsewhere as long as that takes, so cancel it when it is given up."""
        from acp import schema

        method = next((method for method in self._agent.auth_methods if method.id == method_id), None)
        if method is None:
            raise NotOffered(f"{self.title} offers no way to sign in called “{method_id}”.")
        if method.kind != "agent":
            raise NotOffered(
                f"“{method.name}” is not done by {self.title} itself: it is a {method.kind} sign-in."
            )
        await self.call("authenticate", build_params(schema.AuthenticateRequest, methodId=method_id))

    async def logout(self) -> None:
        """Sign out."""
        self._need("signing out", "auth", "logout")
        await self.call("logout", {})

    # ----------------------------------------------------------------- sessions

    async def new_session(
        self,
        cwd: str,
        directories: Sequence[str] = (),
        servers: Servers = (),
        *,
        timeout: float | None = 60.0,
    ) -> dict[str, Any]:
        """A new conversation; the answer as sent, with a `sessionId` for sure."""
        return await self._open("session/new", None, cwd, directories, servers, timeout)

    async def load_session(
        self,
        session_id: str,
        cwd: str,
        directories: Sequence[str] = (),
        servers: Servers = (),
        *,
        timeout: float | None = 60.0,
    ) -> dict[str, Any]:
        """Open a conversation again; the agent replays it in updates before it answers."""
        self._need("loading sessions", "loadSession")
        return await self._open("session/load", session_id, cwd, directories, servers, timeout)

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        directories: Sequence[str] = (),
        servers: Servers = (),
        *,
        timeout: float | None = 60.0,
    ) -> dict[str, Any]:
        """Go on with a conversation without a replay."""
        self._need("resuming sessions", "sessionCapabilities", "resume")
        return await self._open("session/resume", session_id, cwd, directories, servers, timeout)

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        directories: Sequence[str] = (),
        servers: Servers = (),
        *,
        timeout: float | None = 60.0,
    ) -> dict[str, Any]:
        """A second conversation that begins as a copy; the answer as sent, with a `sessionId` for sure."""
        self._need("forking sessions", "sessionCapabilities", "fork")
        return await self._open("session/fork", session_id, cwd, directories, servers, timeout)

    async def _open(
        self,
        method: str,
        session_id: str | None,
        cwd: str,
        directories: Sequence[str],
        servers: Servers,
        timeout: float | None,
    ) -> dict[str, Any]:
        from acp import schema

        requests: dict[str, Any] = {
            "session/new": schema.NewSessionRequest,
            "session/load": schema.LoadSessionRequest,
            "session/resume": schema.ResumeSessionRequest,
            "session/fork": schema.ForkSessionRequest,
        }
        if directories:
            self._need("additional directories", "sessionCapabilities", "additionalDirectories")
        params = build_params(
            requests[method],
            sessionId=session_id,
            cwd=cwd,
            additionalDirectories=list(directories) or None,
            mcpServers=mcp_servers(servers, self._agent, self.title),
        )
        result = _object(await self.call(method, params, timeout=timeout))
        if method in MAKING_SESSIONS and not isinstance(result.get("sessionId"), str):
            raise ConnectionFault(f"{self.title} answered {method} without a session id.", self.stderr_tail())
        return result

    async def list_sessions(
        self, cwd: str | None = None, *, timeout: float | None = 60.0
    ) -> list[dict[str, Any]]:
        """All sessions the agent keeps (of one folder), from all pages, as sent."""
        from acp import schema

        self._need("listing sessions", "sessionCapabilities", "list")
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            params = build_params(schema.ListSessionsRequest, cwd=cwd, cursor=cursor)
            page = _object(await self.call("session/list", params, timeout=timeout))
            sessions = page.get("sessions")
            found.extend(
                item
                for item in sessions or ()
                if isinstance(item, dict) and isinstance(item.get("sessionId"), str)
            )
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen:
                break
            seen.add(cursor)
        return found

    async def close_session(self, session_id: str) -> None:
        """Tell the agent that this conversation is not needed now."""
        from acp import schema

        self._need("closing sessions", "sessionCapabilities", "close")
        await self.call("session/close", build_params(schema.CloseSessionRequest, sessionId=session_id))

    async def delete_session(self, session_id: str) -> None:
        """Have the agent forget this conversation."""
        from acp import schema

        self._need("deleting sessions", "sessionCapabilities", "delete")
        await self.call("session/delete", build_params(schema.DeleteSessionRequest, sessionId=session_id))

    # ----------------------------------------------------------------- turns

    async def prompt(self, session_id: str, blocks: Sequence[Mapping[str, Any]]) -> str:
        """One turn, however long it takes; the stop reason in the agent's word."""
        content = prompt_blocks(blocks, self.session.agent, self.title)
        if self.dialect == "0.1.0":
            return await self._prompt_draft(session_id, content)
        result = _object(await self.call("session/prompt", {"sessionId": session_id, "prompt": content}))
        return str(result.get("stopReason", "end_turn"))

    async def _prompt_draft(self, session_id: str, content: list[dict[str, Any]]) -> str:
        """The answer only opens the turn; what ends it is read by the translator, so the state tells."""
        ended = asyncio.Event()
        plain_observe = self._transport.observe

        def observe(record: Record, line: str | None) -> None:
            plain_observe(record, line)
            if not self.session.working:
                ended.set()

        await self.call("session/prompt", {"sessionId": session_id, "prompt": draft.prompt_text(content)})
        self._transport.observe = observe
        try:
            if self.session.working:
                await self._unless_gone(ended.wait())
        finally:
            self._transport.observe = plain_observe
        if self._gone.is_set():
            raise await self._why_gone()
        if self.session.stop_reason is None and self.session.last_error is not None:
            raise RequestFailed(self.title, "session/prompt", self.session.last_error, self.stderr_tail())
        return self.session.stop_reason or "end_turn"

    async def cancel(self, session_id: str) -> None:
        """Ask the agent to stop the turn; it still answers the prompt."""
        from acp import schema

        await self.notify("session/cancel", build_params(schema.CancelNotification, sessionId=session_id))

    # ----------------------------------------------------------------- settings

    async def set_mode(self, session_id: str, mode: str, *, timeout: float | None = None) -> None:
        """Change the agent's mode; its answer confirms it."""
        from acp import schema

        known = [offered.id for offered in self.session.modes]
        if mode not in known:
            raise NotOffered(self._no_such("mode", mode, known))
        params = build_params(schema.SetSessionModeRequest, sessionId=session_id, modeId=mode)
        await self.call("session/set_mode", params, timeout=timeout)

    async def set_config_option(
        self, session_id: str, option_id: str, value: str | bool, *, timeout: float | None = None
    ) -> None:
        """Change one of the agent's settings: the value of a select option, or a boolean."""
        from acp import schema

        option = next((option for option in self.session.config_options if option.id == option_id), None)
        if option is None:
            known = [offered.id for offered in self.session.config_options]
            raise NotOffered(self._no_such("option", option_id, known))
        model: Any
        if option.kind == "boolean" and isinstance(value, bool):
            model, extra = schema.SetSessionConfigOptionBooleanRequest, {"type": "boolean"}
        elif option.kind == "select" and isinstance(value, str):
            choices = [choice.value for choice in option.choices]
            if value not in choices:
                raise NotOffered(self._no_such(f"value of “{option_id}”", value, choices))
            model, extra = schema.SetSessionConfigOptionSelectRequest, {}
        else:
            raise NotOffered(
                f"The option “{option_id}” of {self.title} is a {option.kind}: it cannot be set to {value!r}."
            )
        params = build_params(model, sessionId=session_id, configId=option_id, value=value, **extra)
        await self.call("session/set_config_option", params, timeout=timeout)

    async def set_model(self, session_id: str, model: str, *, timeout: float | None = None) -> None:
        """Change the model, with agents that still offer models this way."""
        known = [offered.value for offered in self.session.models]
        if model not in known:
            raise NotOffered(self._no_such("model", model, known))
        params = {"sessionId": session_id, "modelId": model}
        await self.call("session/set_model", params, timeout=timeout)

    # ----------------------------------------------------------------- guards

    @property
    def _agent(self) -> Agent:
        if self.session.agent is None:
            raise NotOffered(f"{self.title} has not been initialized.")
        return self.session.agent

    def _need(self, what: str, *capability: str) -> None:
        if not self._agent.can(*capability):
            raise NotOffered(f"{self.title} does not offer {what}.")

    def _no_such(self, what: str, wanted: str, known: list[str]) -> str:
        offered = f"it offers {', '.join(known)}" if known else "it offers none"
        return visible_line(f"{self.title} has no {what} “{wanted}”: {offered}.")


def _object(result: Any) -> dict[str, Any]:
    """Answers may be null, or anything else where an object belongs."""
    return result if isinstance(result, dict) else {}
