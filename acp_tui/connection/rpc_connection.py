"""JSON-RPC connection to one agent process: start, calls, notifications and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import linecache
import time
from collections.abc import Callable, Coroutine, Iterable
from contextvars import Context
from typing import TYPE_CHECKING, Any, Self

from acp_tui.connection import http_agent
from acp_tui.connection.agent_process import AgentProcess
from acp_tui.connection.errors import AgentExit, AgentGone, AgentTimeout, RequestFailed, SignInNeeded
from acp_tui.connection.params import TraceContext
from acp_tui.connection.pending_requests import PendingRequests
from acp_tui.connection.transport import CURRENT_CALL, SentRequest, WireTransport
from acp_tui.protocol.error_reader import read_error
from acp_tui.protocol.json_rpc import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from acp.connection import Connection

    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.connection.pending_requests import Serve
    from acp_tui.connection.transport import Endpoint, Observe
    from acp_tui.processes.piped_process import LineRing
    from acp_tui.session.state import RpcError, Session

EXIT_STATUS_SECONDS = 2.0
"""How long to wait for the exit of an agent that has closed stdin or stdout, before ending its process."""
CLOSE_SECONDS = 10.0
"""Seconds that `close` waits for the rest of the agent's stdout to be processed."""


class RpcConnection:
    """One agent process and the JSON-RPC connection to it. A restart needs a new object."""

    def __init__(
        self,
        launch: Launch,
        process: Endpoint,
        sdk: type[Connection],
        *,
        session: Session,
        observe: Observe,
        serve: Serve,
        on_exit: Callable[[AgentExit], None],
        clock: Callable[[], float],
        line_limit: int,
        trace: TraceContext,
    ) -> None:
        self.title = launch.title
        self._protocol = launch.protocol
        self.session = session
        self._process = process
        self._on_exit = on_exit
        self._gone = asyncio.Event()
        self._trace = trace
        self._incoming = PendingRequests(serve)
        self._transport = WireTransport(
            process, self._incoming, observe, on_end=self._on_stdout_end, clock=clock, line_limit=line_limit
        )
        self._sdk = sdk(self._incoming.handle, self._transport)
        if isinstance(process, http_agent.HttpAgent):
            process.report_to(self._transport.report)

    @classmethod
    async def start(
        cls,
        launch: Launch,
        cwd: str,
        *,
        session: Session,
        observe: Observe,
        serve: Serve,
        on_exit: Callable[[AgentExit], None],
        clock: Callable[[], float] = time.time,
        stderr: Callable[[bytes], None] | None = None,
        line_limit: int = MAX_MESSAGE_BYTES,
        trace: TraceContext | None = None,
    ) -> Self:
        """Start the agent, or connect to a remote one, and return the connection to it.

        Args:
            launch: The agent's command, environment and title.
            cwd: The directory the agent runs in.
            session: The session's live state, which is only read.
            observe: Called with every frame, sent or received, in wire order, before the frame has an effect.
            serve: Returns the result of a request from the agent, or raises `Refusal`.
            on_exit: Called once, after the agent has exited.
            clock: Returns the time to record, in seconds since 1970.
            stderr: Called with each block the agent writes to stderr.
            line_limit: Longest line to accept, in bytes.
            trace: The trace context to send; None for that of the environment.
        """
        process: Endpoint
        if launch.address is not None:
            process = await http_agent.connect(launch)
        else:
            process = await AgentProcess.spawn(launch, cwd, on_stderr=stderr)
        try:
            # Importing the SDK takes half a second, during which the agent starts.
            sdk = await asyncio.to_thread(_import_sdk)
        except BaseException:
            await process.close(grace_seconds=0)
            raise
        return cls(
            launch,
            process,
            sdk,
            session=session,
            observe=observe,
            serve=serve,
            on_exit=on_exit,
            clock=clock,
            line_limit=line_limit,
            trace=trace or TraceContext(),
        )

    # ----------------------------------------------------------------- calls

    async def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Send any request and return the agent's unchanged result.

        Raises `RequestFailed`, `SignInNeeded`, `AgentGone` or `AgentTimeout`. If the caller is cancelled or
        the timeout is over, `$/cancel_request` is sent, except for `initialize`.
        """
        return await self._call(method, self._traced(method, params or {}), SentRequest(), timeout)

    async def call_by_hand(self, method: str, params: Any, faults: list[str]) -> Any:
        """Send a request that the user wrote, unchanged, and return the result. Raises as `call` does.

        `faults` are sentences on what the schema does not allow in it.
        """
        return await self._call(method, params, SentRequest(faults), None)

    async def _call(self, method: str, params: Any, sent: SentRequest, timeout: float | None) -> Any:
        from acp.exceptions import RequestError

        token = CURRENT_CALL.set(sent)
        try:
            async with asyncio.timeout(None) as limit:
                if timeout is not None:
                    # With an empty context: asyncio keeps a cancelled timer until it is due, and the current
                    # context refers to a screen.
                    Context().run(limit.reschedule, asyncio.get_running_loop().time() + timeout)
                return await self._sdk.send_request(method, params)
        except RequestError as error:
            raise self.request_failed(method, read_error(error.data)) from None
        except ConnectionError:
            raise await self._gone_error() from None
        except TimeoutError:
            self._cancel_request(method, sent)
            sentence = f"{self.title} did not answer {method} within {timeout:g} s."
            fault = self._transport.give_up(sent.request_id, method)
            raise AgentTimeout(f"{sentence} {fault}".rstrip(), self.stderr_tail()) from None
        except asyncio.CancelledError:
            self._cancel_request(method, sent)
            raise
        finally:
            CURRENT_CALL.reset(token)

    def request_failed(self, method: str, error: RpcError) -> RequestFailed:
        """Return the exception for an error with which the agent answered a request."""
        if error.auth_required and method != "authenticate":  # a failed sign-in does not ask for another one
            known = self.session.agent.auth_methods if self.session.agent is not None else []
            return SignInNeeded(self.title, method, error, error.auth_methods or known)
        return RequestFailed(self.title, method, error, self.stderr_tail())

    async def notify(self, method: str, params: Any, *, faults: list[str] | None = None) -> None:
        """Send a notification. Raises `AgentGone`. `faults` are those of one that the user wrote.

        Does not wait until the agent reads the notification: a cancel must not block behind the prompt that
        it cancels.
        """
        try:
            self._transport.post({"jsonrpc": "2.0", "method": method, "params": params}, faults)
        except ConnectionError:
            raise await self._gone_error() from None

    def _traced(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        context = self._trace.of(method)
        return {**params, "_meta": {**context, **params.get("_meta", {})}} if context else params

    def _cancel_request(self, method: str, sent: SentRequest) -> None:
        if sent.request_id is None or method == "initialize":  # nothing may be sent before it is answered
            return
        with contextlib.suppress(ConnectionError):
            params = {"requestId": sent.request_id}
            self._transport.post({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})

    def answer_requests(
        self, takes: Callable[[dict[str, Any]], bool]
    ) -> Callable[[Any, dict[str, Any]], None]:
        """Leave the agent's requests for which `takes` returns True to the caller.

        Return the function that answers one, given its id and the `result` or `error`.
        """
        self._transport.takes_request = takes
        return self._transport.answer

    async def answer_pending(self) -> None:
        """Cancel the agent's pending requests and wait until their answers are written."""
        await self._incoming.answer_pending()

    def withdraw_requests(self, request_ids: Iterable[Any]) -> None:
        """Cancel some of the agent's pending requests, without waiting until they are answered."""
        for request_id in request_ids:
            self._incoming.withdraw(request_id)

    # ----------------------------------------------------------------- the end

    @property
    def pid(self) -> int | None:
        """The agent's process id, which is also the id of its process group and its POSIX session.

        None for an agent that was not started here.
        """
        return self._process.pid

    @property
    def exit(self) -> AgentExit | None:
        """The exit of the agent's process; None while the process runs."""
        return self._process.exit

    @property
    def stderr(self) -> LineRing:
        """The last lines of the agent's stderr."""
        return self._process.stderr

    def stderr_tail(self, count: int = 20) -> list[str]:
        """Return the last lines of the agent's stderr, safe to display."""
        return self._process.stderr_tail(count)

    def stdout_fault(self) -> str:
        """Return a sentence about output that is not separated into messages; empty if all of it is."""
        return self._transport.stdout_fault()

    def give_up_all(self) -> str:
        """Note that nobody waits for any answer. Return sentences that name the requests and the fault."""
        return self._transport.give_up_all()

    async def close(self) -> AgentExit:
        """Answer pending requests, then end the agent and its processes (see `processes.watcher`)."""
        await self.answer_pending()
        ended = await self._process.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), CLOSE_SECONDS)
        await self._sdk.close()
        return ended

    async def _on_stdout_end(self) -> None:
        """Wait for the agent's exit and report it. Pending calls fail after this method returns."""
        try:
            ended = await asyncio.wait_for(self._process.wait(), EXIT_STATUS_SECONDS)
        except TimeoutError:
            ended = await self._process.close(reason="closed its stdout and was ended")
        self._gone.set()
        self._on_exit(ended)
        self._incoming.withdraw_all()

    async def _wait_unless_gone(self, awaited: Coroutine[Any, Any, Any]) -> None:
        """Wait for `awaited`, which depends on the agent. Raises `AgentGone` if the agent exits first."""
        task = asyncio.create_task(awaited)
        gone = asyncio.create_task(self._gone.wait())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise await self._gone_error()
        finally:
            task.cancel()
            gone.cancel()

    async def _gone_error(self) -> AgentGone:
        """Return the error for calls to an agent that is gone.

        Waits for the agent's exit, and ends the agent if the exit takes too long.
        """
        try:
            await asyncio.wait_for(self._gone.wait(), EXIT_STATUS_SECONDS)
        except TimeoutError:
            await self._process.close(reason="closed its stdin and was ended")
        ended = await self._process.wait()
        return AgentGone(f"{ended.describe(self.title)}.", ended)


def _import_sdk() -> type[Connection]:
    from acp.connection import Connection

    linecache.clearcache()  # pydantic left the source of the SDK's models there: half a megabyte
    return Connection
