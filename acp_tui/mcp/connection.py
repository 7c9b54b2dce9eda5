"""Connections to MCP servers over stdio, streamable HTTP and SSE."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client import session
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from acp_tui import __version__
from acp_tui.config.paths import paths
from acp_tui.mcp import diagnosis
from acp_tui.mcp.callbacks import ElicitationRequest, ListKind, ServerHandlers, ServerLogMessage
from acp_tui.mcp.failures import CONNECT_TIMEOUT_SECONDS, FailureCause, ServerFailure
from acp_tui.mcp.http_transport import HttpEvidence, open_http
from acp_tui.mcp.message_filter import filter_messages
from acp_tui.mcp.sign_in.provider import SignInProvider
from acp_tui.mcp.stdio_process import StdioProcess
from acp_tui.store.mcp_facts import McpFacts

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams
    from mcp.client.client import ConnectMode
    from mcp.client.session import ClientRequestContext, IncomingMessage

    from acp_tui.config.mcp import ResolvedServer


HandshakeMode = Literal["legacy", "auto"]
SLOW_SECONDS = 5.0
"""If connecting in `auto` mode takes longer, an http server probably ignores `server/discover`."""
WAITING_SECONDS = 3.0
"""How long connecting or a request takes before `ServerHandlers.on_waiting` is called."""
MAX_REPAIRS = 50
"""The maximum number of sentences in `McpConnection.repairs`."""
END_SECONDS = 2.0
"""How long to wait for the transport's error after a connection has closed."""

_LIST_KINDS: dict[type[Any], ListKind] = {
    types.ToolListChangedNotification: "tools",
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
}

# Without a log file, Python would print the SDK's warnings to stderr. They can quote unescaped server output.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class McpConnection:
    """A connection to a server, created by `connect`.

    The SDK's task groups run in a separate task. A broken transport therefore does not cancel the caller's
    task: the caller's requests fail, and `failure` returns the reason.
    """

    def __init__(
        self,
        server: ResolvedServer,
        mode: ConnectMode,
        *,
        roots: Sequence[Path],
        auth: httpx2.Auth | None,
        handlers: ServerHandlers,
    ) -> None:
        self.server = server
        self._mode = mode
        self._roots = roots
        self._auth = auth
        self._handlers = handlers
        self._process = StdioProcess(server, handlers) if server.transport == "stdio" else None
        self._http = HttpEvidence() if server.transport != "stdio" else None
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._has_asked = False  # whether the server has asked the user during the current request
        self._received_all = asyncio.Event()  # set when the server has closed its side
        self.repairs: list[str] = []
        """Sentences about the first invalid parts that were left out of answers. They are safe to display."""
        self._task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    # ----------------------------------------------------------------- the server

    @property
    def client(self) -> Client:
        """The SDK's client. Must not be used before the server is connected."""
        assert self._client is not None
        return self._client

    @property
    def protocol_version(self) -> str:
        """The negotiated protocol revision."""
        return self.client.protocol_version

    @property
    def is_modern(self) -> bool:
        """Whether the revision is 2026-07-28 or later. Such revisions have no `initialize` and no session."""
        return self.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def server_info(self) -> types.Implementation | None:
        """The server's name and version; None if the server does not send them."""
        return self.client.server_info

    @property
    def server_version(self) -> str:
        """The server's name and version as one string; empty if the server does not send them."""
        info = self.server_info
        return f"{info.name} {info.version}".strip() if info is not None else ""

    @property
    def instructions(self) -> str | None:
        """The server's instructions for the model."""
        return self.client.instructions

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """The capabilities that the server declares."""
        return self.client.server_capabilities

    @property
    def noise(self) -> list[str]:
        """The first lines on stdout that were not MCP messages. They have been made safe to display."""
        return self._process.noise if self._process is not None else []

    @property
    def noise_count(self) -> int:
        """The number of lines on stdout that were not MCP messages."""
        return self._process.noise_count if self._process is not None else 0

    async def failure(self, error: BaseException, action: str) -> ServerFailure:
        """Return why a request failed.

        `action` is what the server was asked to do, as an infinitive such as "list its tools".
        """
        closed = isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED
        if closed:
            await asyncio.wait([self._task], timeout=END_SECONDS if self._http is not None else 0)
            if self._task.done() and not self._task.cancelled() and (reason := self._task.exception()):
                error = reason
        process = self._process if closed else None
        return diagnosis.explain(self.server, error, action=action, process=process, http=self._http)

    async def wait_ended(self) -> ServerFailure:
        """Wait until the connection ends, and return the reason."""
        ended = asyncio.create_task(self._received_all.wait())
        try:
            await asyncio.wait([ended, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
        error = self._task.exception() if self._task.done() and not self._task.cancelled() else None
        return diagnosis.explain(
            self.server, error, action="stay connected", process=self._process, http=self._http
        )

    # ----------------------------------------------------------------- opening and closing

    async def _run(self) -> None:
        """Establish the connection, and hold it open until `close` is called or the transport fails."""
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(self._make_client())
            if self._handlers.follows_lists and client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                await self._follow_lists(client, stack)
            client.session.validate_tool_result = _accept_result  # type: ignore[method-assign]
            self._client = client
            self._ready.set()
            await self._wait_for_stop()

    def _make_client(self) -> Client:
        transport: AbstractAsyncContextManager[TransportStreams]
        if self._process is not None:
            transport = self._process.open()
        else:
            assert self._http is not None
            transport = open_http(self.server, self._auth, self._http)
        handlers = self._handlers
        return Client(
            filter_messages(transport, self._received_all.set, self._note_repair),
            mode=self._mode,
            client_info=types.Implementation(name="acp-tui", version=__version__),
            list_roots_callback=self._list_roots if self._roots else None,
            elicitation_callback=self._elicit if handlers.on_elicitation is not None else None,
            logging_callback=self._log if handlers.on_log is not None else None,
            log_level="info" if handlers.follows_logs else None,
            message_handler=self._handle_message if handlers.follows_lists else None,
            cache=None,  # always show the server's current lists
        )

    def _note_repair(self, sentence: str) -> None:
        if sentence in self.repairs or len(self.repairs) >= MAX_REPAIRS:
            return
        self.repairs.append(sentence)
        if self._handlers.on_repair is not None:
            self._handlers.on_repair(sentence)

    async def _wait_for_stop(self) -> None:
        if self._http is None:
            await self._stop.wait()
            return
        async with asyncio.TaskGroup() as tasks:
            waits = [tasks.create_task(event.wait()) for event in (self._stop, self._http.broken)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()

    async def open(self, timeout: float | None) -> None:
        """Wait until the connection is established. Raises `ServerFailure`."""
        ready = asyncio.create_task(self._ready.wait())
        waits: set[asyncio.Task[Any]] = {ready, self._task}
        if self._http is not None:
            waits.add(broken := asyncio.create_task(self._http.broken.wait()))
        try:
            first = WAITING_SECONDS if timeout is None else min(WAITING_SECONDS, timeout)
            done = await self._first_of(waits, first)
            if not done and (timeout is None or timeout > first):
                if self._handlers.on_waiting is not None:
                    self._handlers.on_waiting(diagnosis.waiting_sentence(self.server, timeout, self._process))
                rest = None if timeout is None else timeout - first
                done = await self._first_of(waits, rest)
        finally:
            ready.cancel()
            if self._http is not None:
                broken.cancel()
        if self._client is not None and not self._task.done():
            return
        failure = None
        if not done:
            assert timeout is not None
            failure = diagnosis.connect_timeout(self.server, timeout, self._process)
        error = await self.close()
        raise failure or diagnosis.explain(self.server, error, process=self._process, http=self._http)

    async def _first_of(self, waits: set[asyncio.Task[Any]], timeout: float | None) -> set[asyncio.Task[Any]]:
        """Wait until a task has finished, and return the finished tasks; an empty set after the timeout.

        The time that the user takes to sign in does not count.
        """
        provider = self._auth if isinstance(self._auth, SignInProvider) else None
        try:
            async with asyncio.timeout(timeout) as limit:
                if provider is not None:
                    provider.limit = limit
                return (await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED))[0]
        except TimeoutError:
            return set()
        finally:
            if provider is not None:
                provider.limit = None

    def should_repeat_discover(self, mode: ConnectMode, failure: ServerFailure | None) -> bool:
        """Return whether `server/discover` may have timed out only because the user was signing in.

        The SDK waits ten seconds for the server's answer and then falls back to `initialize`. After the
        sign-in, the server answers `server/discover`.
        """
        if mode != "auto" or self._http is None or not self._http.was_refused:
            return False
        if failure is None:
            return not self.is_modern
        return failure.cause in (FailureCause.HANDSHAKE, FailureCause.HTTP_STATUS)

    async def close(self) -> BaseException | None:
        """Close the connection, and end the server's process.

        Returns the error that ended the connection before or during this call; None if there was no error.
        """
        self._stop.set()
        if not self._ready.is_set():
            self._task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([self._task])
        return None if self._task.cancelled() else self._task.exception()

    # ----------------------------------------------------------------- requests and notifications

    @contextmanager
    def announced_wait(self, action: str, seconds: float) -> Iterator[None]:
        """Call `ServerHandlers.on_waiting` if the request made in this context takes longer than usual.

        It is not called if the server has asked the user a question: then the server waits for the user.
        """
        announce, self._has_asked = self._handlers.on_waiting, False

        def report() -> None:
            if announce is not None and not self._has_asked:
                announce(diagnosis.call_waiting_sentence(self.server, action, seconds))

        timer = asyncio.get_running_loop().call_later(WAITING_SECONDS, report)
        try:
            yield
        finally:
            timer.cancel()

    async def _list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:  # noqa: ARG002
        roots = [types.Root.model_validate({"uri": path.as_uri(), "name": path.name}) for path in self._roots]
        return types.ListRootsResult(roots=roots)

    async def _elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002  # the SDK passes it by name
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult:
        ask = self._handlers.on_elicitation
        assert ask is not None
        self._has_asked = True
        if isinstance(params, types.ElicitRequestURLParams):
            request = ElicitationRequest(self.server.name, params.message, "url", url=params.url)
        else:
            schema = dict(params.requested_schema)
            request = ElicitationRequest(self.server.name, params.message, schema=schema)
        answer = await ask(request)
        return types.ElicitResult(action=answer.action, content=answer.content)

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        assert self._handlers.on_log is not None
        self._handlers.on_log(ServerLogMessage(params.level, params.logger or "", params.data))

    async def _handle_message(self, message: IncomingMessage) -> None:
        if self._handlers.on_notification is not None and not isinstance(message, Exception):
            data = message.model_dump(by_alias=True, mode="json", exclude_none=True)
            self._handlers.on_notification(data["method"], data.get("params"))
        kind = _LIST_KINDS.get(type(message))
        if kind is not None and self._handlers.on_list_changed is not None:
            self._handlers.on_list_changed(kind)

    async def _follow_lists(self, client: Client, stack: AsyncExitStack) -> None:
        """Ask a server of revision 2026-07-28 to report changed lists. Reports go to `_handle_message`."""
        offered = client.server_capabilities
        tools = bool(offered.tools and offered.tools.list_changed)
        prompts = bool(offered.prompts and offered.prompts.list_changed)
        resources = bool(offered.resources and offered.resources.list_changed)
        if tools or prompts or resources:
            changes = client.listen(
                tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
            )
            await stack.enter_async_context(changes)


async def _accept_result(name: str, result: types.CallToolResult) -> None:
    """Accept any structured content of a result, as agents and the bridge do.

    The SDK would compare it with the output schema of the tool, and list all tools if it does not know the
    schema. If that failed, a call that has been made would be reported as failed.
    """


@asynccontextmanager
async def connect(
    server: ResolvedServer,
    *,
    roots: Sequence[Path] = (),
    auth: httpx2.Auth | None = None,
    handlers: ServerHandlers = ServerHandlers(),  # noqa: B008  # frozen
    timeout: float | None = None,
) -> AsyncGenerator[McpConnection]:
    """Connect to a server. On exit, close the connection and end the server's process.

    Args:
        server: The server, with variables expanded.
        roots: The folders to return when the server requests `roots/list`.
        auth: Adds credentials to the requests to an http or sse server. Can raise a `ServerFailure`.
        handlers: The callbacks for the server's requests and notifications.
        timeout: Seconds for each attempt to connect, not counting the time that the user takes to sign in;
            None: the `connect_timeout` of the server, or else `CONNECT_TIMEOUT_SECONDS`.

    Raises:
        ServerFailure: The server cannot be used.
    """
    timeout = timeout or server.connect_timeout or CONNECT_TIMEOUT_SECONDS
    modes = connect_modes(server)
    has_repeated = False
    while modes:
        mode = modes.pop(0)
        probe_seconds = session.DISCOVER_TIMEOUT_SECONDS
        start = time.monotonic()
        connection = McpConnection(server, mode, roots=roots, auth=auth, handlers=handlers)
        try:
            failure: ServerFailure | None = None
            try:
                await connection.open(timeout)
            except ServerFailure as error:
                failure = error
            seconds = time.monotonic() - start
            is_slow = seconds > probe_seconds
            if is_slow and not has_repeated and connection.should_repeat_discover(mode, failure):
                has_repeated = True
                modes.insert(0, mode)
                continue
            if failure is not None and failure.cause is FailureCause.HANDSHAKE and modes:
                continue
            if failure is not None:
                raise failure
            remember_mode(server, mode, is_modern=connection.is_modern, seconds=seconds)
            yield connection
            return
        finally:
            await connection.close()


# --------------------------------------------------------------------------- the first mode to try


def connect_modes(server: ResolvedServer) -> list[HandshakeMode]:
    """Return the SDK's connect modes for this server, in the order in which to try them."""
    remembered = McpFacts(paths().state).read(server.name, server.digest).mode
    if server.transport == "http":
        return ["legacy", "auto"] if remembered == "legacy" else ["auto"]
    return ["auto"] if remembered == "auto" else ["legacy", "auto"]


def remember_mode(server: ResolvedServer, mode: HandshakeMode, *, is_modern: bool, seconds: float) -> None:
    """Save which mode to try first next time, unless the first mode stays the same.

    Args:
        server: The server.
        mode: The mode in which connecting worked.
        is_modern: Whether the negotiated revision has no `initialize`.
        seconds: How long connecting took.
    """
    if not server.digest:
        return
    facts = McpFacts(paths().state)
    best: HandshakeMode | None = None
    if server.transport == "http":
        if mode == "auto" and not is_modern and seconds > SLOW_SECONDS:
            best = "legacy"
    elif mode == "auto":
        best = "auto" if is_modern else "legacy"
    if best is not None and facts.read(server.name, server.digest).mode != best:
        with contextlib.suppress(OSError):  # a failure only makes the next start slower
            facts.remember_mode(server.name, server.digest, best)
