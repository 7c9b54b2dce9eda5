"""Asks the app to permit the calls that pass through a bridge, and reports the calls to the app."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui.mcp.json_rpc_peer import PeerClosedError, RpcError
from acp_tui.mcp.log_budget import LogBudget
from acp_tui.session.json_depth import limit_depth

if TYPE_CHECKING:
    from acp_tui.mcp.app_link import AppLink

MAX_RECORDED = 8_000_000
"""The maximum length of arguments or a result as JSON. The app refuses messages that are too long."""
KEPT_CHARACTERS = 200_000
"""The number of characters kept when a value is cut because it is longer than `MAX_RECORDED`."""
NO_APP = "not connected to acp-tui; calls are allowed without asking and are not recorded."


class CallGuard(Protocol):
    """Allows or refuses the calls to one server, records them, and passes the server's forms to the user."""

    forms: bool
    """Whether `form` can ask the user."""

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:
        """Return why a call is not allowed, as a sentence; None if the call is allowed.

        `digest` is the digest of the tool; None if the server did not list the tool.
        """

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        """Report a complete list of the server's tools, and the digest of each tool.

        The first list that is seen counts as accepted by the user.
        """

    async def form(self, message: str, schema: Any) -> dict[str, Any]:
        """Ask the user to fill in a form, and return the answer as an MCP elicitation result."""

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        """Record a call that has ended. `began` is its start on the monotonic clock."""

    def log(self, kind: str, text: str) -> None:
        """Record output of the server."""


class AppCallGuard:
    """A guard that leaves permission, forms and records to a conversation of the running acp-tui."""

    def __init__(self, link: AppLink, name: str, *, forms: bool = False) -> None:
        """`forms` says whether the conversation can show forms."""
        self._link = link
        self._name = name
        self._budget = LogBudget()
        self.forms = forms

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:
        """Return why a call is not allowed, as a sentence; None if the call is allowed."""
        call = {"name": self._name, "tool": tool, "arguments": arguments, "digest": digest}
        try:
            answer = await self._link.request("call", **call)
        except PeerClosedError:
            return "The call was refused: acp-tui has exited and cannot ask the user."
        except RpcError as error:
            return f"The call was refused: {error.message}"
        if isinstance(answer, dict) and answer.get("allowed") is True:
            return None
        return str(answer.get("why") if isinstance(answer, dict) else "") or "The call was refused."

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        """Report a complete list of the server's tools, and the digest of each tool."""
        tools = limit_depth(tools)
        if len(json.dumps(tools)) > MAX_RECORDED:
            tools = []  # the app needs them only to show later how they have changed
        with contextlib.suppress(PeerClosedError, RpcError):  # without the app, every call is refused
            await self._link.request("listed", name=self._name, digests=digests, tools=tools)

    async def form(self, message: str, schema: Any) -> dict[str, Any]:
        """Ask the user to fill in a form, and return the answer as an MCP elicitation result."""
        try:
            answer = await self._link.request("form", name=self._name, message=message, schema=schema)
        except (PeerClosedError, RpcError):
            return {"action": "cancel"}
        return answer if isinstance(answer, dict) else {"action": "cancel"}

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        """Record a call that has ended."""
        seconds = round(time.monotonic() - began, 4)
        outcome = {"result": _cut(result), "error": error, "seconds": seconds}
        self._link.post("called", name=self._name, tool=tool, arguments=_cut(arguments), **outcome)

    def log(self, kind: str, text: str) -> None:
        """Record output of the server, unless the server writes too much."""
        if lines := self._budget.pass_lines(text):
            self._link.post("log", name=self._name, kind=kind, text="\n".join(lines))


def _cut(value: Any) -> Any:
    """Return the value, cut if it is too deep or too long for a message to the app."""
    value = limit_depth(value)
    text = json.dumps(value)
    if len(text) <= MAX_RECORDED:
        return value
    return f"{text[:KEPT_CHARACTERS]}… {len(text) - KEPT_CHARACTERS:,} more characters"


class NoCallGuard:
    """A guard that allows every call and records nothing, for a bridge that runs without the app."""

    forms = False

    async def form(self, message: str, schema: Any) -> dict[str, Any]:  # noqa: ARG002
        """Decline: nobody can be asked."""
        return {"action": "decline"}

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:  # noqa: ARG002
        """Return None: the call is allowed."""
        await asyncio.sleep(0)
        return None

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        """Do nothing: no call is compared with what the user has accepted."""

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        """Do nothing: there is no conversation in which to record the call."""

    def log(self, kind: str, text: str) -> None:
        """Copy the server's stderr to this process's stderr; ignore other output."""
        if kind == "stderr":
            sys.stderr.write(text)
            sys.stderr.flush()
