"""Opens the session of a conversation: a new session, or a session that the agent has stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import mcp
from acp_tui.config.mcp import SentServer, Server, UnsentServer, servers_for_agent
from acp_tui.connection.errors import AgentGone, ConnectionFault, NotSupported, RequestFailed, SignInNeeded
from acp_tui.connection.params import SessionSetup
from acp_tui.controller.mcp.bridge_host import BridgeOffer, is_signed_in
from acp_tui.errors import UserError
from acp_tui.session.events import Event, HistoryCompleted, Noticed, SettingsRestored
from acp_tui.session.offered_options import MODE, SETTING_ORDER, current_settings, options_by_key
from acp_tui.session.record import REQUEST_CANCELLED
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Agent, ConfigOption, Session, Setting, TurnEnd

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.connection.agent_connection import AgentConnection
    from acp_tui.controller.agent_supervisor import AgentSupervisor, SlowStepNotices
    from acp_tui.controller.baseline_tracker import BaselineTracker
    from acp_tui.controller.mcp.own_server import OwnServerOffer
    from acp_tui.controller.recorder import Recorder
    from acp_tui.store.session_folder import NullFolder, SessionFolder
    from acp_tui.workspace.files.open_folder import Roots


QUIET_SECONDS = 0.3
"""A replayed history counts as complete when nothing has arrived for this long."""
PROMPT_MISSING_SECONDS = 1.0
"""Used instead of `QUIET_SECONDS` while the replay lacks the last known prompt, which may be late."""
CLOSE_SECONDS = 2.0
"""The longest wait for the answer to `session/close`. The agent's process is ended afterwards."""
LATE_HISTORY_SECONDS = 10.0
"""The longest wait for a history that some agents send after answering `session/load`."""


RUNS_HERE = "it is a program of this machine, and the agent runs on another one"
"""Why a remote agent does not get an MCP server."""


NO_REMOTE_DIRECTORIES = (
    "The additional directories are ignored: they are on this machine, "
    "and the agent's files are on another one."
)


class CannotReopen(NotSupported):
    """The agent can neither resume nor load sessions."""


class SessionOpener:
    """Opens sessions with folders and MCP servers, and restores the sessions' settings."""

    def __init__(
        self,
        launch: Launch,
        agent: AgentSupervisor,
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
    ) -> None:
        self.mcp_servers: list[McpServerStatus] = []
        """The MCP servers in the settings, and whether each was sent to the agent."""
        self._launch = launch
        self._agent = agent
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

    @property
    def _session(self) -> Session:
        return self._recorder.session

    async def open_new(self) -> None:
        """Start a new session."""
        self._baseline.begin()
        reopened = bool(self._session.settings)
        setup = await self._setup()
        async with self._wait_notices.during("to open a session"):
            await self._agent.connection.new_session(setup, timeout=self._timeout)
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
        connection = self._agent.connection
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
        connection = self._agent.connection
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

    async def open_again(self) -> bool:
        """Reopen the current session. If the agent cannot reopen the session, start a new one.

        Return False if the session is a new one that lacks earlier prompts.

        If the agent refuses to reopen a session that it has answered in, raise the `RequestFailed`: the agent
        may succeed later. Gemini finds no session of its first minute.
        """
        session_id = self._session.session_id
        try:
            if session_id is not None:
                await self.open_known(session_id)
                return True
        except SignInNeeded:
            raise
        except NotSupported as error:
            if self._session.prompts:
                self._note(Noticed("warning", str(error)))
        except RequestFailed as failure:  # many agents save a session only after its first answer
            if failure.error.code == REQUEST_CANCELLED or self._has_answer:
                raise
        await self.open_new()
        return not self._session.prompts

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
                await self._agent.connection.close_session(session.session_id, timeout=CLOSE_SECONDS)

    async def _setup(self) -> SessionSetup:
        """Return the folders and MCP servers for the session. Warn about those that the agent cannot use."""
        agent = self._session.agent
        assert agent is not None
        directories = self._roots.directories[1:]
        if directories and self._launch.has_remote_files:
            self._note(Noticed("warning", NO_REMOTE_DIRECTORIES))
            directories = ()
        found = session_parameters(agent, self._launch, directories, self._servers, is_signed_in)
        self.mcp_servers = [*found.statuses, *map(not_sent, self._withheld_servers)]
        problems = [unsent for unsent in self._withheld_servers if not unsent.intended]
        for sentence in [*found.warnings, *map(not_used_sentence, problems)]:
            self._note(Noticed("warning", sentence))
        sent = await self._bridges.objects(found.servers)
        for notice in await add_tokens(sent, self._servers):
            self._note(notice)
        servers = [*sent, *await self._own_servers(agent, sent)]
        folder = self._launch.session_folder(str(self._roots.cwd))
        return SessionSetup(folder, found.directories, servers)

    async def _own_servers(self, agent: Agent, others: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a list with acp-tui's own MCP server; an empty list if the agent does not get the server."""
        if self._launch.is_remote:
            return []
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
            await restore_settings(self._agent.connection, self._session, self._note, timeout=self._timeout)

    async def _late_history(self, quiet_seconds: float) -> bool:
        """Wait for a history that the agent sends only after its answer to `session/load`.

        The history is complete when it contains the last known prompt, or when nothing has arrived for
        `quiet_seconds`. No prompt may be sent until then. Return False if the history was not complete
        within `LATE_HISTORY_SECONDS`.
        """
        deadline = self._recorder.clock() + LATE_HISTORY_SECONDS
        while not self._session.history_complete and self._recorder.clock() < deadline:
            heard_at = self._session.heard_at
            await asyncio.sleep(quiet_seconds)
            if self._session.heard_at == heard_at:
                return True
        return self._session.history_complete


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """An MCP server in the settings, and whether and how it was sent to the agent."""

    name: str
    transport: str
    reason_not_sent: str | None = None
    """A clause that says why the server was not sent; None if it was sent."""
    bridge_reason: str | None = None
    """A clause that says why a bridge was sent in place of the server; None if no bridge was sent."""


@dataclass(frozen=True, slots=True)
class SessionParameters:
    """The parameters for opening a session, apart from its folder."""

    directories: list[str]
    servers: list[SentServer]
    statuses: list[McpServerStatus]  # of all MCP servers in the settings
    warnings: list[str]  # a sentence for everything that the agent does not support


def session_parameters(
    agent: Agent,
    launch: Launch,
    directories: Iterable[Path],
    servers: Sequence[Server],
    is_signed_in: Callable[[str], bool],
) -> SessionParameters:
    """Return the session parameters that the agent supports, with warnings about unsupported ones.

    `is_signed_in` returns whether the user has signed in at the MCP server with this URL.
    """
    warnings: list[str] = []
    names = [str(directory) for directory in directories]
    if names and not agent.can("sessionCapabilities", "additionalDirectories"):
        warnings.append(
            f"{launch.title} does not support additional directories; ignored: {', '.join(names)}."
        )
        names = []
    http, sse = (agent.can("mcpCapabilities", transport) for transport in ("http", "sse"))
    sent, others = servers_for_agent(servers, launch.name, http=http, sse=sse, is_signed_in=is_signed_in)
    if launch.is_remote:
        here = [one for one in sent if one.server.transport == "stdio" or one.bridge_reason is not None]
        sent = [one for one in sent if one not in here]
        left_out = [server for server in servers if server.name in {one.server.name for one in here}]
        others += [UnsentServer(server, RUNS_HERE, intended=True) for server in left_out]
    statuses = [
        McpServerStatus(one.server.name, one.server.transport, bridge_reason=one.bridge_reason)
        for one in sent
    ]
    statuses += map(not_sent, others)
    warnings += [not_used_sentence(unsent) for unsent in others if not unsent.intended]
    return SessionParameters(names, sent, statuses, warnings)


async def add_tokens(sent: list[dict[str, Any]], servers: Iterable[Server]) -> list[Noticed]:
    """Add the user's tokens to the servers in `sent` that have a URL and `send_token`.

    Return one notice for each of these servers: that the token was added, or why there is none. `sent`
    contains the servers as ACP objects; `servers` contains the definitions of the servers.
    """
    definitions = {server.name: server for server in servers if server.sign_in and server.sign_in.send_token}
    targets = [target for target in sent if target["name"] in definitions and "url" in target]
    return [await _add_token(target, definitions[target["name"]]) for target in targets]


async def _add_token(target: dict[str, Any], server: Server) -> Noticed:
    from acp_tui.mcp.sign_in.actions import token_header
    from acp_tui.mcp.sign_in.interaction import SignInError

    name = escape_line(server.name)
    try:
        header = await token_header(mcp.resolve_server(server))
    except SignInError as error:
        return Noticed("warning", f"The agent gets no token for {name}. {error}")
    if header is None:
        advice = f"run `acp-tui mcp sign-in {name}` and start a new session"
        return Noticed("warning", f"The agent gets no token for {name}: you are not signed in; {advice}.")
    target["headers"] = [*target["headers"], {"name": "Authorization", "value": header.value}]
    return Noticed("info", f"The agent was given your token for {name}. The token {header.describe_end()}.")


def client_capabilities(
    *, elicitation: bool = False, terminal_sign_in: bool = False, workspace: bool = True
) -> dict[str, Any]:
    """Return the `clientCapabilities` of `initialize`.

    `elicitation`: forms can be shown to a user. `terminal_sign_in`: sign-in programs can run in a terminal.
    `workspace`: the agent may use files and commands of this machine.
    """
    served = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True} if workspace else {}
    capabilities: dict[str, Any] = {
        **served,
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "subagents": {},
        # Several agents run commands themselves and report the output only in this extension.
        "_meta": {"terminal_output": True},
    }
    if terminal_sign_in:
        capabilities["auth"] = {"terminal": True}
        # An older extension: several agents use it to suggest the command that signs in.
        capabilities["_meta"]["terminal-auth"] = True
    if elicitation:
        capabilities["elicitation"] = {"form": {}, "url": {}}
    return capabilities


def not_sent(unsent: UnsentServer) -> McpServerStatus:
    """Return the status of a server that the agent does not get."""
    return McpServerStatus(unsent.server.name, unsent.server.transport, unsent.reason)


def not_used_sentence(unsent: UnsentServer) -> str:
    """Return the notice for a server that the agent does not get."""
    return f"The MCP server {unsent.server.name} is not used: {unsent.reason}."


async def restore_settings(
    agent: AgentConnection, session: Session, note: Callable[[Event], None], *, timeout: float
) -> None:
    """Set the offered settings to their values in `session.settings`, and add notices about the result.

    Raises `AgentGone` and `SignInNeeded`. `timeout` is for each request, in seconds.
    """
    wanted = dict(session.settings)
    restored: list[str] = []
    reasons: dict[str, str] = {}
    sign_in_needed: SignInNeeded | None = None
    for key in sorted(wanted, key=lambda key: SETTING_ORDER.get(key, 1)):
        setting = wanted[key]
        if _has(session, key, setting):
            continue
        option = options_by_key(session).get(key)
        if option is None:
            reasons[key] = "the agent no longer offers this setting"
        elif option.kind == "select" and setting.value not in [choice.value for choice in option.choices]:
            reasons[key] = f"the agent no longer offers {setting.value_name}"
        else:
            try:
                await _set_for_sure(agent, session, option, setting.value, timeout)
            except AgentGone:
                raise
            except RequestFailed as failure:
                reasons[key] = failure.error.message
                sign_in_needed = failure if isinstance(failure, SignInNeeded) else sign_in_needed
            except ConnectionFault as fault:
                reasons[key] = str(fault)
            else:
                restored.append(key)
    failed = [key for key in wanted if not _has(session, key, wanted[key])]
    for key in failed:
        note(Noticed("warning", _not_restored(session, key, wanted[key], reasons.get(key))))
    names = [f"{wanted[key].name}: {wanted[key].value_name}" for key in restored if key not in failed]
    if names:
        note(Noticed("info", f"Restored {', '.join(names)}"))
    note(SettingsRestored(failed))
    if sign_in_needed is not None:
        raise sign_in_needed


def _has(session: Session, key: str, setting: Setting) -> bool:
    current = current_settings(session).get(key)
    return current is not None and current.value == setting.value


async def _set_for_sure(
    agent: AgentConnection, session: Session, option: ConfigOption, value: str | bool, timeout: float
) -> None:
    """Set a value. If the agent refuses, set the value that it reports as the current one, then try again.

    Kimi Code reports its default mode for a session that is in plan mode, and refuses to change to plan mode
    because the session is already in plan mode. If the reported mode is set first, plan mode is accepted.
    """
    reported = option.current
    try:
        await _set(agent, session, option, value, timeout)
    except RequestFailed as failure:
        if reported is None:
            raise
        try:
            await _set(agent, session, option, reported, timeout)
            await _set(agent, session, option, value, timeout)
        except RequestFailed:
            raise failure from None


async def _set(
    agent: AgentConnection, session: Session, option: ConfigOption, value: str | bool, timeout: float
) -> None:
    session_id = session.session_id
    assert session_id is not None
    if option in session.config_options:
        await agent.set_config_option(session_id, option.id, value, timeout=timeout)
    elif option.id == MODE:
        await agent.set_mode(session_id, str(value), timeout=timeout)
    else:
        await agent.set_model(session_id, str(value), timeout=timeout)


def _not_restored(session: Session, key: str, setting: Setting, reason: str | None) -> str:
    current = current_settings(session).get(key)
    now = f"{setting.name} is {current.value_name}, " if current is not None else f"{setting.name} is "
    why = reason or "the agent accepted the change but did not make it"
    return f"{now}no longer {setting.value_name}: {why}"
