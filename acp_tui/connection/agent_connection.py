"""The calls to an agent. A call raises `NotSupported` if the agent did not advertise what the call needs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_tui import __version__
from acp_tui.connection.errors import ConnectionFault, NotSupported, RequestFailed, VersionMismatch
from acp_tui.connection.params import (
    SessionSetup,
    add_newer_capabilities,
    build_params,
    mcp_servers,
    prompt_blocks,
)
from acp_tui.connection.pending_requests import CLIENT_METHODS_V2
from acp_tui.connection.rpc_connection import RpcConnection
from acp_tui.protocol import draft, v2
from acp_tui.protocol.client_calls import STEERING
from acp_tui.session.record import INVALID_PARAMS, Record
from acp_tui.session.safe_text import escape_line, visible_json

if TYPE_CHECKING:
    from acp_tui.session.state import Agent


CLIENT_INFO = {"name": "acp-tui", "title": "acp-tui", "version": __version__}
PROTOCOL_VERSION = 1
ACCEPTED_VERSIONS = (PROTOCOL_VERSION, "1", "1.0")
"""What an agent may answer to `initialize`. The draft of the next version is negotiated separately."""


def mismatch(agent: str, version: Any, stderr: list[str]) -> VersionMismatch:
    """Return the error for an agent with an unsupported version. `stderr`: the end of the agent's stderr."""
    theirs = escape_line(version) if isinstance(version, str) else visible_json(version)
    return VersionMismatch(
        f"{agent} speaks version {theirs} of the Agent Client Protocol; "
        f"acp-tui supports version {PROTOCOL_VERSION}, version {v2.VERSION} (with --protocol {v2.VERSION}) "
        f"and the draft {draft.VERSION}.",
        stderr,
    )


def other_version_hint() -> str:
    """Return a sentence for an agent that refuses the params of `initialize`."""
    return (
        f"acp-tui asked for version {PROTOCOL_VERSION} of the protocol; "
        "an agent that supports only another version, such as 2, answers like this."
    )


class AgentConnection(RpcConnection):
    """A connection to one agent. Call `start`, then `initialize`, and only then the other methods."""

    # ----------------------------------------------------------------- opening

    async def initialize(
        self, capabilities: Mapping[str, Any], *, timeout: float | None = 60.0
    ) -> dict[str, Any]:
        """Negotiate the protocol version and return the agent's answer. Raises `VersionMismatch`.

        Version 2 is asked for first if `Launch.protocol` says so; then version 1, if the agent lacks it.
        """
        from acp import schema

        if self._protocol != "1":
            accepted = await self._initialize_v2(capabilities, timeout)
            if accepted is not None:
                return accepted
        params = build_params(
            schema.InitializeRequest,
            protocolVersion=PROTOCOL_VERSION,
            clientCapabilities=dict(capabilities),
            clientInfo=CLIENT_INFO,
        )
        add_newer_capabilities(params["clientCapabilities"], capabilities)
        try:
            result = _object(await self.call("initialize", params, timeout=timeout))
        except RequestFailed as failure:
            if not draft.wants_draft(failure.error):
                if failure.error.code == INVALID_PARAMS:
                    failure.explain(other_version_hint())
                raise
            return await self._initialize_draft(params, timeout)
        if self._speaks_draft:
            return await self._initialize_draft(params, timeout)
        version = result.get("protocolVersion", PROTOCOL_VERSION)
        if version not in ACCEPTED_VERSIONS:
            raise self._mismatch(version)
        return result

    async def _initialize_v2(
        self, capabilities: Mapping[str, Any], timeout: float | None
    ) -> dict[str, Any] | None:
        """Ask for version 2, and return the agent's answer; None if the agent does not speak that version."""
        params = v2.initialize_params(CLIENT_INFO, capabilities)
        try:
            result = _object(await self.call("initialize", params, timeout=timeout))
        except RequestFailed:
            return None
        if not self._speaks_v2:
            return None
        self._transport.has_batches = True
        self._incoming.methods = CLIENT_METHODS_V2
        return result

    async def _initialize_draft(self, params: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        result = _object(
            await self.call("initialize", {**params, "protocolVersion": draft.VERSION}, timeout=timeout)
        )
        if not self._speaks_draft:
            raise self._mismatch(result.get("protocolVersion"))
        return result

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None
    ) -> Any:
        """Send a request, in the version of the protocol that the agent speaks, and return the answer."""
        if self._speaks_v2 and params is not None:
            method, params = v2.request(method, params)
        return await super().call(method, params, timeout=timeout)

    @property
    def _speaks_v2(self) -> bool:
        """True if the agent answered `initialize` with version 2 of the protocol."""
        return self.session.dialect == "v2"

    @property
    def _speaks_draft(self) -> bool:
        """True if the agent answered `initialize` with the draft version of the protocol."""
        return self.session.dialect == "0.1.0"

    def _mismatch(self, version: Any) -> VersionMismatch:
        return mismatch(self.title, version, self.stderr_tail())

    async def authenticate(self, method_id: str) -> None:
        """Sign in with one of the agent's methods.

        There is no timeout, because the user may have to sign in on a web page first.
        """
        from acp import schema

        method = next((method for method in self._agent.auth_methods if method.id == method_id), None)
        if method is None:
            raise NotSupported(f'{self.title} has no sign-in method "{method_id}".')
        if method.kind != "agent":
            raise NotSupported(
                f'Sign-in method "{method.name}" is of type {method.kind}; '
                f"{self.title} itself does not carry out methods of this type."
            )
        await self.call("authenticate", build_params(schema.AuthenticateRequest, methodId=method_id))

    async def logout(self, *, timeout: float | None = 60.0) -> None:
        """Sign out. The agent may then require a sign-in for any call."""
        self._require("signing out", "auth", "logout")
        await self.call("logout", {}, timeout=timeout)

    # ----------------------------------------------------------------- sessions

    async def new_session(self, setup: SessionSetup, *, timeout: float | None = 60.0) -> dict[str, Any]:
        """Open a new session and return the agent's answer, which has a `sessionId`."""
        return await self._open("session/new", None, setup, timeout)

    async def load_session(
        self, session_id: str, setup: SessionSetup, *, timeout: float | None = 60.0
    ) -> dict[str, Any]:
        """Reopen a session. The agent replays the history in `session/update`s before it answers."""
        self._require("loading sessions", "loadSession")
        return await self._open("session/load", session_id, setup, timeout)

    async def resume_session(
        self, session_id: str, setup: SessionSetup, *, timeout: float | None = 60.0
    ) -> dict[str, Any]:
        """Reopen a session without a replay of its history."""
        self._require("resuming sessions", "sessionCapabilities", "resume")
        return await self._open("session/resume", session_id, setup, timeout)

    async def fork_session(
        self, session_id: str, setup: SessionSetup, *, timeout: float | None = 60.0
    ) -> dict[str, Any]:
        """Open a copy of a session and return the agent's answer, which has the `sessionId` of the copy."""
        self._require("forking sessions", "sessionCapabilities", "fork")
        return await self._open("session/fork", session_id, setup, timeout)

    async def list_sessions(
        self, cursor: str | None = None, cwd: str | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Request one page of the agent's sessions, and return the answer.

        `cursor` is the `nextCursor` of the previous page; None requests the first page. `cwd` limits the list
        to sessions of a folder.
        """
        self._require("listing sessions", "sessionCapabilities", "list")
        params = {key: value for key, value in (("cursor", cursor), ("cwd", cwd)) if value is not None}
        return _object(await self.call("session/list", params, timeout=timeout))

    async def delete_session(self, session_id: str, *, timeout: float | None = None) -> None:
        self._require("deleting sessions", "sessionCapabilities", "delete")
        await self.call("session/delete", {"sessionId": session_id}, timeout=timeout)

    async def close_session(self, session_id: str, *, timeout: float | None = None) -> None:
        """Tell the agent that a session is no longer needed. The agent cancels the session's running turn."""
        from acp import schema

        self._require("closing sessions", "sessionCapabilities", "close")
        params = build_params(schema.CloseSessionRequest, sessionId=session_id)
        await self.call("session/close", params, timeout=timeout)

    async def _open(
        self, method: str, session_id: str | None, setup: SessionSetup, timeout: float | None
    ) -> dict[str, Any]:
        from acp import schema

        requests: dict[str, Any] = {
            "session/new": schema.NewSessionRequest,
            "session/load": schema.LoadSessionRequest,
            "session/resume": schema.ResumeSessionRequest,
            "session/fork": schema.ForkSessionRequest,
        }
        if setup.directories:
            self._require("additional directories", "sessionCapabilities", "additionalDirectories")
        params = build_params(
            requests[method],
            sessionId=session_id,
            cwd=setup.cwd,
            additionalDirectories=list(setup.directories) or None,
            mcpServers=mcp_servers(setup.servers, self._agent, self.title),
        )
        result = _object(await self.call(method, params, timeout=timeout))
        if method in ("session/new", "session/fork") and not isinstance(result.get("sessionId"), str):
            raise ConnectionFault(f"{self.title} answered {method} without a session id.", self.stderr_tail())
        return result

    # ----------------------------------------------------------------- turns

    async def prompt(self, session_id: str, blocks: Sequence[Mapping[str, Any]]) -> str:
        """Run one turn, without a timeout, and return the agent's stop reason."""
        content = prompt_blocks(blocks, self.session.agent, self.title)
        prompt = draft.prompt_text(content) if self._speaks_draft else content
        params = {"sessionId": session_id, "prompt": prompt}
        if self._speaks_draft or self._speaks_v2:
            return await self._prompt_until_reported(self.call("session/prompt", params))
        result = _object(await self.call("session/prompt", params))
        return str(result.get("stopReason", "end_turn"))

    async def prompt_by_hand(self, params: Any, faults: list[str]) -> Any:
        """Run one turn with a prompt that the user wrote: see `call_by_hand`."""
        call = self.call_by_hand("session/prompt", params, faults)
        if self._speaks_draft or self._speaks_v2:
            return await self._prompt_until_reported(call)
        return await call

    async def _prompt_until_reported(self, call: Awaitable[Any]) -> str:
        """Run one turn that ends with a notification rather than with the answer. Return the stop reason."""
        ended = asyncio.Event()
        original_observe = self._transport.observe

        def observe(record: Record, line: str | None) -> None:
            original_observe(record, line)
            if not self.session.working:
                ended.set()

        await call
        self._transport.observe = observe
        try:
            if self.session.working:
                await self._wait_unless_gone(ended.wait())
        finally:
            self._transport.observe = original_observe
        if self._gone.is_set():
            raise await self._gone_error()
        if self.session.stop_reason is None and self.session.last_error is not None:
            raise self.request_failed("session/prompt", self.session.last_error)
        return self.session.stop_reason or "end_turn"

    async def steer(
        self, session_id: str, blocks: Sequence[Mapping[str, Any]], *, timeout: float | None = None
    ) -> str:
        """Send a message into the running turn, and return what the agent did with the message.

        The outcomes in the protocol are "injected", "promptRequired" (no turn is running) and "failed".
        """
        if not self._agent.can_steer:
            raise NotSupported(f"{self.title} does not take messages during a turn.")
        content = prompt_blocks(blocks, self.session.agent, self.title)
        meta = {"steering": {"idleBehavior": "promptRequired"}}
        params = {"sessionId": session_id, "prompt": content, "_meta": meta}
        result = await self.call(STEERING, params, timeout=timeout)
        return str(_object(result).get("outcome"))

    async def cancel_tool_call(self, session_id: str, call_id: str) -> None:
        """Ask the agent to stop one tool call. The turn goes on. Only in version 2 of the protocol."""
        await self.call("tool_call/cancel", {"sessionId": session_id, "toolCallId": call_id})

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """Ask the agent to stop the command of one of its terminals. Only in version 2 of the protocol."""
        await self.call("terminal/cancel", {"sessionId": session_id, "terminalId": terminal_id})

    async def cancel(self, session_id: str) -> None:
        """Ask the agent to stop the turn. The agent still answers the prompt request."""
        from acp import schema

        await self.notify("session/cancel", build_params(schema.CancelNotification, sessionId=session_id))

    # ----------------------------------------------------------------- settings

    async def set_mode(self, session_id: str, mode: str, *, timeout: float | None = None) -> None:
        from acp import schema

        known = [offered.id for offered in self.session.modes]
        if mode not in known:
            raise self._unavailable(f'Mode "{mode}"', known)
        params = build_params(schema.SetSessionModeRequest, sessionId=session_id, modeId=mode)
        await self.call("session/set_mode", params, timeout=timeout)

    async def set_config_option(
        self, session_id: str, option_id: str, value: str | bool, *, timeout: float | None = None
    ) -> None:
        """Set an option of the agent. `value` is a string for a select option, otherwise a boolean."""
        from acp import schema

        option = next((option for option in self.session.config_options if option.id == option_id), None)
        if option is None:
            known = [offered.id for offered in self.session.config_options]
            raise self._unavailable(f'Option "{option_id}"', known)
        model: Any
        if option.kind == "boolean" and isinstance(value, bool):
            model, extra = schema.SetSessionConfigOptionBooleanRequest, {"type": "boolean"}
        elif option.kind == "select" and isinstance(value, str):
            choices = [choice.value for choice in option.choices]
            if value not in choices:
                raise self._unavailable(f'Value "{value}" of option "{option_id}"', choices)
            model, extra = schema.SetSessionConfigOptionSelectRequest, {}
        else:
            raise NotSupported(
                f'Option "{option_id}" of {self.title} is of type {option.kind} '
                f"and cannot be set to {value!r}."
            )
        params = build_params(model, sessionId=session_id, configId=option_id, value=value, **extra)
        await self.call("session/set_config_option", params, timeout=timeout)

    async def set_model(self, session_id: str, model: str, *, timeout: float | None = None) -> None:
        """Set the model, for agents that offer `models`. Newer agents have a config option instead."""
        known = [offered.value for offered in self.session.models]
        if model not in known:
            raise self._unavailable(f'Model "{model}"', known)
        params = {"sessionId": session_id, "modelId": model}
        await self.call("session/set_model", params, timeout=timeout)

    # ----------------------------------------------------------------- guards

    @property
    def _agent(self) -> Agent:
        if self.session.agent is None:
            raise NotSupported(f"{self.title} has not been initialized.")
        return self.session.agent

    def _require(self, what: str, *capability: str) -> None:
        if not self._agent.can(*capability):
            raise NotSupported(f"{self.title} does not support {what}.")

    def _unavailable(self, what: str, known: list[str]) -> NotSupported:
        offered = ", ".join(known) or "none"
        return NotSupported(escape_line(f"{what} is not available: {self.title} offers {offered}."))


def _object(result: Any) -> dict[str, Any]:
    """Return the result if it is an object, else return an empty object: some agents answer with null."""
    return result if isinstance(result, dict) else {}
