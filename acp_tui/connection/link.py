"""The running connection to one agent: its process, calls to it, requests from it, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any, Self

from acp_tui.connection.agent_requests import PendingRequests
from acp_tui.connection.errors import AgentGone, AgentTimeout, RequestFailed
from acp_tui.connection.line_splitter import MAX_LINE_BYTES
from acp_tui.connection.params import trace_context
from acp_tui.connection.process import AgentProcess
from acp_tui.connection.transport import CURRENT_CALL, SentRequest, WireTransport
from acp_tui.protocol.errors import read_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine

    from acp.connection import Connection

    from acp_tui.agents.launch import Launch
    from acp_tui.connection.agent_exit import AgentExit
    from acp_tui.connection.agent_requests import Serve
    from acp_tui.connection.transport import Observe
    from acp_tui.session.state import Session

EXIT_STATUS_SECONDS = 2.0
"""Seconds between the end of an agent's output and its exit status; after that it is ended."""
CLOSE_SECONDS = 10.0


class Link:
    """One agent, from its start to its end. Made by `start`; one is made anew for a restart."""

    def __init__(
        self,
        launch: Launch,
        process: AgentProcess,
        sdk: type[Connection],
        *,
        session: Session,
        observe: Observe,
        serve: Serve,
        on_exit: Callable[[AgentExit], None],
        clock: Callable[[], float],
        line_limit: int,
    ) -> None:
        self.title = launch.title
        self.session = session
        self._process = process
        self._on_exit = on_exit
        self._gone = asyncio.Event()
        self._trace = trace_context()
        self._incoming = PendingRequests(serve)
        self._transport = WireTransport(
            process, self._incoming, observe, on_end=self._ended, clock=clock, line_limit=line_limit
        )
        self._sdk = sdk(self._incoming.handle, self._transport)

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
        line_limit: int = MAX_LINE_BYTES,
    ) -> Self:
        """Start the agent and listen to it.

        `observe(record, line)` is called for every frame in wire order, both ways, before any effect.
        `serve(method, params, request_id)` answers the agent's requests, or raises `Refusal`.
        `on_exit` is called once, when the agent is gone. `session` is the live state; it is only read.
        """
        process = await AgentProcess.spawn(launch, cwd, on_stderr=stderr)
        try:
            # Half a second, which the agent uses to start.
            sdk = await asyncio.to_thread(_import_sdk)
        except BaseException:
            await process.close(patience=0)
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
        )

    # ----------------------------------------------------------------- calls

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None
    ) -> Any:
        """Send any request and return the result as the agent sent it.

        Raises `RequestFailed`, `AgentGone` or `TimedOut`. When the caller is cancelled, the agent is told.
        """
        from acp.exceptions import RequestError

        sent = SentRequest()
        token = CURRENT_CALL.set(sent)
        try:
            async with asyncio.timeout(timeout):
                return await self._sdk.send_request(method, self._traced(params or {}))
        except RequestError as error:
            raise RequestFailed(self.title, method, read_error(error.data), self.stderr_tail()) from None
        except ConnectionError:
            raise await self._why_gone() from None
        except TimeoutError:
            self._withdraw(method, sent)
            sentence = f"{self.title} did not answer {method} within {timeout:g} s."
            raise AgentTimeout(sentence, self.stderr_tail()) from None
        except asyncio.CancelledError:
            self._withdraw(method, sent)
            raise
        finally:
            CURRENT_CALL.reset(token)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification. Raises `AgentGone`.

        Does not wait for an agent that is behind with reading: a cancel must not hang on what it cancels.
        """
        try:
            self._transport.post({"jsonrpc": "2.0", "method": method, "params": params})
        except ConnectionError:
            raise await self._why_gone() from None

    def _traced(self, params: dict[str, Any]) -> dict[str, Any]:
        if not self._trace:
            return params
        return {**params, "_meta": {**self._trace, **params.get("_meta", {})}}

    def _withdraw(self, method: str, sent: SentRequest) -> None:
        if sent.request_id is None or method == "initialize":  # nothing may come before its answer
            return
        with contextlib.suppress(ConnectionError):
            params = {"requestId": sent.request_id}
            self._transport.post({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})

    async def answer_pending(
        self, session_id: str | None = None, methods: Collection[str] | None = None
    ) -> None:
        """Cancel the agent's open requests (of one session, of some methods) and write their answers."""
        await self._incoming.answer_pending(session_id, methods)

    # ----------------------------------------------------------------- the end

    @property
    def pid(self) -> int:
        """The agent's process, process group and session."""
        return self._process.pid

    @property
    def exit(self) -> AgentExit | None:
        """How the agent ended; None while it runs."""
        return self._process.exit

    def stderr_tail(self, count: int = 20) -> list[str]:
        """The last lines of the agent's stderr, safe to display."""
        return self._process.stderr_tail(count)

    async def close(self) -> AgentExit:
        """Answer what is pending, then end the agent and everything it started."""
        await self.answer_pending()
        ended = await self._process.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), CLOSE_SECONDS)
        await self._sdk.close()
        return ended

    async def _ended(self) -> None:
        """The output of the agent has ended. Whoever waits for an answer hears it after this."""
        try:
            ended = await asyncio.wait_for(self._process.wait(), EXIT_STATUS_SECONDS)
        except TimeoutError:
            ended = await self._process.close(reason="closed its output and had to be ended")
        self._gone.set()
        self._on_exit(ended)
        self._incoming.give_up()

    async def _unless_gone(self, awaited: Coroutine[Any, Any, Any]) -> None:
        """Wait for something that will not happen any more when the agent is gone."""
        task = asyncio.create_task(awaited)
        gone = asyncio.create_task(self._gone.wait())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise await self._why_gone()
        finally:
            task.cancel()
            gone.cancel()

    async def _why_gone(self) -> AgentGone:
        """The agent cannot be reached: wait until it is known why, and end it if it still runs."""
        try:
            await asyncio.wait_for(self._gone.wait(), EXIT_STATUS_SECONDS)
        except TimeoutError:
            await self._process.close(reason="stopped reading its input and had to be ended")
        ended = await self._process.wait()
        return AgentGone(f"{ended.describe(self.title)}.", ended)


def _import_sdk() -> type[Connection]:
    from acp.connection import Connection

    return Connection
