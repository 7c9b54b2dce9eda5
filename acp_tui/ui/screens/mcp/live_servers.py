"""The MCP servers that the MCP screen knows, and the connections that the user has made on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.config import mcp
from acp_tui.config import mcp as config
from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.mcp.sign_in.token_store import sign_in_state, uses_sign_in
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.safe_text import escape_line
from acp_tui.store.folder_trust import FolderTrust
from acp_tui.store.mcp_facts import McpFacts, McpOffers, ServerFacts
from acp_tui.store.mcp_log import McpLog
from acp_tui.store.own_mcp_servers import read_own_servers

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer, Server, UnsentServer
    from acp_tui.controller import McpServerStatus
    from acp_tui.mcp.callbacks import ElicitationRequest, ServerHandlers
    from acp_tui.mcp.connection import McpConnection
    from acp_tui.mcp.inspection import Inspection
    from acp_tui.mcp.server_recorder import ServerRecorder
    from acp_tui.session.events import Event
    from acp_tui.session.state import Session
    from acp_tui.ui.screens.mcp.server_dialogs import McpSignInDialogs


ServerStatus = Literal["disabled", "disconnected", "connecting", "connected", "failed", "needs sign-in"]
SOURCE = "screen"
"""Marks the entries that the MCP screen adds to the log of a server."""


@dataclass(frozen=True, slots=True)
class McpContext:
    """What the MCP screen gets from its conversation, or from the launcher."""

    load_servers: Callable[[], Sequence[KnownServer]]
    """Reads the servers and what is saved about them. Blocks: call it in a thread."""
    cwd: Path
    live: LiveServers
    """The connections, which outlive the screen."""
    session: Session
    """The session of the conversation; an empty one on the launcher."""
    agent: str = ""
    """The title of the agent; empty on the launcher."""
    note: Callable[[Event], None] | None = None
    """Adds an event to the conversation; None on the launcher."""
    edit_file: Callable[[str, int | None], None] | None = None
    """Opens a file in the editor; None on the launcher."""


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A server as configured, with what is saved about it."""

    server: Server
    withheld: str = ""
    """Why the server may not be started, as a clause; empty if it may."""
    not_sent: str = ""
    """Why the server was not passed to the agent, as a clause; empty if it was, or if no session is open."""
    is_bridged: bool = False
    """Whether the bridge is passed to agents instead of the server itself."""
    file_changed_at: float | None = None
    """When the file with the definition was changed, in seconds since the epoch; None if unknown."""
    accepted_at: float | None = None
    """When the user allowed or denied the server; None if unknown, or if no project defines the server."""
    saved: ServerFacts = field(default_factory=ServerFacts)
    signed_in: bool = False
    """Whether tokens for the server are stored."""
    accepted_tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The definitions of the tools that the user accepted, by name; see `inspection_record.tool_parts`."""

    @property
    def key(self) -> str:
        """Text that identifies this definition of the server."""
        return f"{self.server.name}\n{self.server.origin}"

    @property
    def can_start(self) -> bool:
        """Whether acp-tui may start the server or connect to it."""
        return self.server.is_on and not self.withheld and not self.server.problems


@dataclass(slots=True)
class LiveServer:
    """The connection to one server, or the reason why there is none."""

    status: ServerStatus = "disconnected"
    connection: McpConnection | None = None
    inspection: Inspection | None = None  # the last successful inspection
    newly_accepted: int | None = None  # how many tools this connection was the first to list
    note: str = ""  # what the connection waits for, or why it failed; safe to display
    task: asyncio.Task[None] | None = None  # keeps the connection open
    lists_changed: asyncio.Event = field(default_factory=asyncio.Event)


class LiveServers:
    """The connections to servers, with an up-to-date list of what each server offers.

    Each connection is kept open by a task of its own, also while no MCP screen is open. `close` ends all
    connections.
    """

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._on_change: Callable[[], None] = _ignore
        self._ask: Callable[[ElicitationRequest], Awaitable[FormAnswer]] = _cancel
        self._live: dict[str, LiveServer] = {}
        # All running tasks, including those that a newer task for the same server is ending.
        self._tasks: set[asyncio.Task[None]] = set()

    def show_on(
        self,
        on_change: Callable[[], None],
        ask: Callable[[ElicitationRequest], Awaitable[FormAnswer]],
    ) -> None:
        """Call `on_change` when what to show may have changed, and `ask` with each question of a server."""
        self._on_change, self._ask = on_change, ask

    def hide(self) -> None:
        """Show nothing from now on, and cancel all questions of servers."""
        self._on_change, self._ask = _ignore, _cancel

    @property
    def connected(self) -> int:
        """The number of connected servers."""
        return sum(live.status == "connected" for live in self._live.values())

    def get(self, known: KnownServer) -> LiveServer:
        """Return the `LiveServer` of a server: its connection and the state of this connection."""
        return self._live.setdefault(known.key, LiveServer())

    def status(self, known: KnownServer) -> ServerStatus:
        """Return the status to show, which is "disabled" if acp-tui must not connect to the server."""
        return self.get(known).status if known.can_start else "disabled"

    # ------------------------------------------------------------------------- connecting

    def connect(self, known: KnownServer, dialogs: McpSignInDialogs | None = None) -> None:
        """Connect to a server, or reconnect, and list what the server offers.

        With `dialogs`, the user can sign in if the server requires a sign-in.
        """
        live = self.get(known)
        live.status, live.note = "connecting", ""
        live.task = asyncio.create_task(self._hold(known, live, live.task, dialogs))
        self._tasks.add(live.task)
        live.task.add_done_callback(self._tasks.discard)
        self._on_change()

    def disconnect(self, known: KnownServer) -> None:
        """End the connection to a server, or stop connecting."""
        live = self.get(known)
        if live.task is not None:
            live.task.cancel()

    async def close(self) -> None:
        """End all connections and the servers' processes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _hold(
        self,
        known: KnownServer,
        live: LiveServer,
        previous: asyncio.Task[None] | None,
        dialogs: McpSignInDialogs | None,
    ) -> None:
        """Connect after ending the `previous` task, and stay connected until cancelled or disconnected."""
        try:
            if previous is not None:
                previous.cancel()
                await asyncio.wait([previous])
            await self._stay_connected(known, live, dialogs)
        except asyncio.CancelledError:
            self._set_ended(live, "disconnected", "")
            McpLog(paths().state, known.server.name, str(known.server.file)).add("ended", source=SOURCE)
            raise
        except Exception as error:  # raised again, so that the event loop reports it
            self._set_ended(live, "failed", f"Internal error: {error}")
            raise
        finally:
            if dialogs is not None:
                dialogs.close()

    def _set_ended(self, live: LiveServer, status: ServerStatus, note: str) -> None:
        live.connection = None
        if live.task is asyncio.current_task():  # otherwise a newer task owns the connection
            live.status, live.note = status, escape_line(note)
            self._on_change()

    async def _stay_connected(
        self, known: KnownServer, live: LiveServer, dialogs: McpSignInDialogs | None
    ) -> None:
        from acp_tui.mcp.failures import ServerFailure
        from acp_tui.mcp.inspection import FailureInfo, Inspection
        from acp_tui.mcp.server_recorder import ServerRecorder

        try:
            server = config.resolve_server(known.server)
        except config.CannotSendError as error:
            self._set_ended(live, "failed", config.start_failure(known.server, error))
            return
        recorder = ServerRecorder(server, SOURCE)
        found = Inspection(server.name, time.time())
        try:
            await self._follow(server, live, recorder, dialogs)
        except ServerFailure as failure:
            recorder.failed(failure)
            found.failure = FailureInfo(failure.cause, failure.sentence)
            found.status = "needs sign-in" if failure.needs_sign_in else "failed"
            await _save(server.digest, found)
            self._set_ended(live, found.status, failure.sentence)
        except UserError as error:
            self._set_ended(live, "failed", str(error))

    async def _follow(
        self,
        server: ResolvedServer,
        live: LiveServer,
        recorder: ServerRecorder,
        dialogs: McpSignInDialogs | None,
    ) -> None:
        """Connect. List what the server offers, now and after each change. Raises `ServerFailure`."""
        from acp_tui.mcp.connection import connect
        from acp_tui.mcp.inspection import Inspection, describe
        from acp_tui.mcp.sign_in.actions import provider_for

        at, began = time.time(), time.monotonic()
        handlers = recorder.handlers(self._handlers(live))
        auth = provider_for(server, dialogs.interaction() if dialogs is not None else None)
        async with connect(server, roots=[self._cwd], auth=auth, handlers=handlers) as connection:
            is_first = True
            while True:
                live.lists_changed.clear()
                found = Inspection(server.name, at)
                await describe(connection, found)
                if dialogs is not None:
                    dialogs.close()
                found.seconds = round(time.monotonic() - began, 3)
                if is_first:
                    recorder.connected(found.protocol_version, found.server_version)
                accepted = await _save(server.digest, found)
                live.newly_accepted = accepted if is_first else live.newly_accepted
                live.connection, live.inspection = connection, found
                live.status, live.note = "connected", ""
                self._on_change()
                await _wait_for_change(connection, live.lists_changed)
                at, began, is_first = time.time(), time.monotonic(), False

    def _handlers(self, live: LiveServer) -> ServerHandlers:
        from acp_tui.mcp.callbacks import ServerHandlers

        def show_wait(sentence: str) -> None:
            live.note = escape_line(sentence)
            self._on_change()

        return ServerHandlers(
            on_elicitation=lambda request: self._ask(request),
            on_list_changed=lambda _: live.lists_changed.set(),
            on_waiting=show_wait,
        )


def _ignore() -> None:
    """Do nothing, because no screen shows the connections."""


async def _cancel(_: ElicitationRequest) -> FormAnswer:
    """Answer a question that no screen can show."""
    return FormAnswer("cancel")


async def _wait_for_change(connection: McpConnection, lists_changed: asyncio.Event) -> None:
    """Wait until one of the server's lists changes. Raises `ServerFailure` if the server disconnects."""
    changed = asyncio.create_task(lists_changed.wait())
    ended = asyncio.create_task(connection.wait_ended())
    try:
        await asyncio.wait([changed, ended], return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            raise ended.result()
    finally:
        changed.cancel()
        ended.cancel()


async def _save(digest: str, found: Inspection) -> int | None:
    """Save the result of an inspection. Return `newly_accepted`, see `ToolComparison`."""
    from acp_tui.mcp.inspection_record import save_inspection

    return (await asyncio.to_thread(save_inspection, digest, found)).newly_accepted


def known_servers(
    servers: Sequence[Server], withheld: Sequence[UnsentServer], statuses: Sequence[McpServerStatus]
) -> list[KnownServer]:
    """Return the servers with what is saved about them. Reads files: call it in a thread.

    Args:
        servers: The servers that may be started. Of several with the same name, the last one counts.
        withheld: The servers that may not be started.
        statuses: Which servers were sent to the agent; empty if no session was opened.
    """
    states: dict[str, mcp.ServerState] = {}
    with suppress(UserError):  # reported already when the settings were read
        states = read_own_servers().states
    servers = mcp.with_states(servers, states)
    last = {server.name: server for server in servers}
    sent = {status.name: status for status in statuses if not status.reason_not_sent}
    reasons = {status.name: status.reason_not_sent for status in statuses if status.reason_not_sent}
    found = []
    for server in servers:
        reason = ""
        if server is not last[server.name]:
            reason = f"replaced by the definition in {last[server.name].origin}"
        elif server.name not in sent:
            reason = reasons.get(server.name, "")
        found.append(_known(server, "", reason, sent.get(server.name)))
    others = zip(mcp.with_states([one.server for one in withheld], states), withheld, strict=True)
    return [*found, *(_known(server, unsent.reason, unsent.reason, None) for server, unsent in others)]


def _known(server: Server, withheld: str, not_sent: str, sent: McpServerStatus | None) -> KnownServer:
    changed_at, digest, state = None, server.digest(), paths().state
    with suppress(OSError):
        changed_at = server.file.stat().st_mtime
    signed_in = uses_sign_in(server) and sign_in_state(server.url) is not None
    reason = sent.bridge_reason if sent is not None else mcp.bridge_reason(server, signed_in=signed_in)
    return KnownServer(
        server,
        withheld,
        not_sent,
        reason is not None,
        changed_at,
        _accepted_at(server),
        McpFacts(state).read(server.name, digest),
        signed_in,
        McpOffers(state).read(server.name, digest).accepted_tools,
    )


def _accepted_at(server: Server) -> float | None:
    if server.project is None:
        return None
    consent = FolderTrust(paths().state).folder(server.project).servers.get(server.name)
    return consent.at if consent is not None and consent.digest == server.digest() else None
