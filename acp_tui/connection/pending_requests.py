"""The agent's pending requests: each is served in its own task, and answered once while the agent runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.errors import Refusal
from acp_tui.session.record import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, REQUEST_CANCELLED

if TYPE_CHECKING:
    Serve = Callable[[str, dict[str, Any], int | str], Awaitable[dict[str, Any] | None]]

CLIENT_METHODS = frozenset(
    {
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
        "elicitation/create",
        "mcp/message",
    }
)
"""The methods that an agent may call. Any other call is answered with -32601 (method not found)."""
CLIENT_METHODS_V2 = frozenset({"session/request_permission", "elicitation/create", "mcp/message"})
"""The same in version 2 of the protocol, in which the client serves neither files nor terminals."""
CANCELLED_RESULTS: dict[str, dict[str, Any]] = {
    "session/request_permission": {"outcome": {"outcome": "cancelled"}},
    "elicitation/create": {"action": "cancel"},
}
"""The answers to cancelled requests, by method. The answer for other methods is -32800 (cancelled)."""
ANSWER_WRITE_SECONDS = 2.0
"""The longest wait for answers to be written to the agent, which may have stopped reading."""

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class AgentRequest:
    """An unanswered request from the agent."""

    id: int | str
    withdrawn: bool = False
    task: asyncio.Task[dict[str, Any] | None] | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    def withdraw(self) -> None:
        """Cancel the request's task, or keep it from starting."""
        self.withdrawn = True
        if self.task is not None:
            self.task.cancel()


CURRENT_REQUEST: ContextVar[AgentRequest] = ContextVar("CURRENT_REQUEST")
"""The agent's request that the current task serves. Set on receipt; the SDK's task inherits the value."""


class PendingRequests:
    """The agent's requests that wait for our answer."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.methods = CLIENT_METHODS
        """The methods that the agent may call."""
        self._open: dict[int | str, AgentRequest] = {}

    def register(self, request_id: int | str) -> bool:
        """Add a request. Return False, and ignore the request, if another request with this id is pending."""
        if request_id in self._open:
            return False
        request = AgentRequest(request_id)
        self._open[request_id] = request
        CURRENT_REQUEST.set(request)
        return True

    def withdraw(self, request_id: Any) -> None:
        """Cancel the request with this id. Do nothing if no such request is pending."""
        request = self._open.get(request_id) if isinstance(request_id, int | str) else None
        if request is not None:
            request.withdraw()

    def withdraw_all(self) -> None:
        """Cancel all requests of an agent that is gone, without waiting until they are answered."""
        for request in self._open.values():
            request.withdraw()

    def mark_answered(self, request_id: int | str) -> None:
        """Remove a request whose answer was written."""
        request = self._open.pop(request_id, None)
        if request is not None:
            request.answered.set()

    async def answer_pending(self) -> None:
        """Cancel all requests and wait until their answers are written, at most `ANSWER_WRITE_SECONDS`."""
        pending = list(self._open.values())
        for request in pending:
            request.withdraw()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WRITE_SECONDS):
                for request in pending:
                    await request.answered.wait()

    async def handle(self, method: str, params: Any, _is_notification: bool) -> dict[str, Any]:
        """Serve the current request, as the SDK's request handler. Raises the SDK's `RequestError`."""
        from acp.exceptions import RequestError

        request = CURRENT_REQUEST.get()
        try:
            return await self._answer(request, method, params)
        except Refusal as refusal:
            raise RequestError(refusal.code, refusal.message, refusal.data) from None

    async def _answer(self, request: AgentRequest, method: str, params: Any) -> dict[str, Any]:
        if method not in self.methods:
            raise Refusal(METHOD_NOT_FOUND, "Method not found", {"method": method})
        if not isinstance(params, dict):
            raise Refusal(INVALID_PARAMS, "Invalid params", {"details": "params must be an object"})
        if not request.withdrawn:
            # An inner task: when the inner task is cancelled, the outer task still answers.
            request.task = task = asyncio.ensure_future(self._serve(method, params, request.id))
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:  # the connection is being closed
                task.cancel()
                raise
            if not task.cancelled():
                return _result(task, method)
        if method in CANCELLED_RESULTS:
            return CANCELLED_RESULTS[method]
        raise Refusal(REQUEST_CANCELLED, "Request cancelled")


def _result(task: asyncio.Future[dict[str, Any] | None], method: str) -> dict[str, Any]:
    error = task.exception()
    if error is None:
        return task.result() or {}
    if isinstance(error, Refusal):
        raise error
    log.error("Serving %s failed", method, exc_info=error)
    raise Refusal(INTERNAL_ERROR, "Internal error", {"details": _details(error)})


def _details(error: BaseException) -> str:
    """Return what the agent may know about an error. Its text can contain the path of a file of acp-tui."""
    if isinstance(error, OSError):
        return f"{type(error).__name__}: {os.strerror(error.errno or 0)}"
    return type(error).__name__
