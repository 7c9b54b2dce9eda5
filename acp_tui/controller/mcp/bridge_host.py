"""Gives each bridge its MCP server's definition, decides on the bridge's calls, and records these calls.

A bridge is a process between the agent and an MCP server, see `acp_tui.mcp.bridge`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from acp_tui.config.paths import paths
from acp_tui.controller.permission_gate import GUARD_OPTIONS, PermissionGate, Verdict
from acp_tui.controller.user_questions import FormRequest, Question
from acp_tui.errors import UserError
from acp_tui.mcp.failures import mask_secrets, recordable_result, secret_values, shorten_for_record
from acp_tui.mcp.json_rpc_peer import JsonRpcError
from acp_tui.protocol.json_rpc import decode
from acp_tui.session.events import Decided, Event, McpCalled, Noticed
from acp_tui.session.mcp_tool import McpTool
from acp_tui.session.record import INVALID_PARAMS
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import ToolCall
from acp_tui.store.mcp_facts import McpFacts
from acp_tui.store.mcp_log import McpLog, RecordKind

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer, SentServer
    from acp_tui.controller.mcp.app_socket import AppSocket, Handler
    from acp_tui.permissions.subject import PathContext, Subject
    from acp_tui.schema_form.values import FormAnswer


_Answer = TypeVar("_Answer")

ASK_SECONDS = 50.0
"""How long a question waits for the user. Many agents give up on a tool call after a minute."""
ASK_MARGIN_SECONDS = 10.0
"""A question is closed this many seconds before the server's `timeout` ends.

However, it always stays open for at least half of the timeout.
"""
MAX_SECONDS = 1e9
"""The longest plausible duration of a call. Longer ones, reported by a faulty bridge, are recorded as 0."""
TURN_STOPPED = "The turn was stopped."
_MESSAGE_KEYS = ("level", "logger", "data")
_KINDS: dict[str, RecordKind] = {"stderr": "stderr", "noise": "stdout"}


class BridgeHost:
    """Answers the requests of a conversation's bridges."""

    def __init__(
        self,
        gate: PermissionGate,
        context: PathContext,
        roots: Sequence[Path],
        note: Callable[[Event], None],
    ) -> None:
        self._gate = gate
        self._context = context
        self._roots = roots
        self._note = note
        self._servers: dict[str, ResolvedServer] = {}
        self._accepted_tools: dict[str, AcceptedTools] = {}
        self._records: dict[str, CallRecords] = {}
        self._asking: set[asyncio.Task[Any]] = set()
        self.fill_form: Callable[[FormRequest], Coroutine[Any, Any, FormAnswer]] | None = None
        """Asks the user to fill in a form; None if there is no screen."""

    def socket_handlers(self) -> dict[str, Handler]:
        """Return, by method, the functions that answer `acp-tui mcp bridge` on the app's socket."""
        return {
            "server": self._server,
            "listed": self._listed,
            "call": self._call,
            "form": self._form,
            "called": self._called,
            "log": self._log,
        }

    async def offer(self, servers: Iterable[ResolvedServer], socket: AppSocket) -> list[dict[str, Any]]:
        """Return bridges to the given servers as ACP objects, and accept the bridges' requests from now on.

        Opens the socket if there is any server. Raises `UserError`.
        """
        self._servers = {server.name: server for server in servers}
        self._accepted_tools = {name: AcceptedTools(server) for name, server in self._servers.items()}
        self._records = {name: CallRecords(server, self._note) for name, server in self._servers.items()}
        if not self._servers:
            return []
        path = await socket.open()
        command = ["-P", "-m", "acp_tui", "mcp", "bridge"]  # -P: no modules from the workspace
        options = ["--socket", str(path), "--session", socket.session_key]
        return [
            {"name": name, "command": sys.executable, "args": [*command, name, *options], "env": []}
            for name in self._servers
        ]

    def carries(self, server: str) -> bool:
        """Return True if the agent was given a bridge to this server."""
        return server in self._servers

    def stop_calls(self) -> None:
        """Refuse all calls that wait for the user's answer, and close the forms that servers have opened.

        Called when the turn is stopped or the agent is restarted.
        """
        for task in self._asking:
            task.cancel()

    # ----------------------------------------------------------------- requests of a bridge

    async def _server(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what a bridge needs at its start, such as the server's definition and the environment.

        The environment is acp-tui's own, because agents pass only a few variables to the bridges they start.
        """
        server = self._named(params)
        roots = [str(root) for root in self._roots]
        forms = self.fill_form is not None
        return {"server": server.to_json(), "roots": roots, "environ": dict(os.environ), "forms": forms}

    async def _listed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Accept the tools of a server if they are the first that were seen."""
        server, digests, tools = self._named(params), params.get("digests"), params.get("tools")
        found = digests.items() if isinstance(digests, dict) else ()
        valid = {name: digest for name, digest in found if isinstance(digest, str)}
        objects = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        named = [tool for tool in objects if isinstance(tool.get("name"), str)]
        self._warn(await asyncio.to_thread(self._accepted_tools[server.name].accept_first, valid, named))
        return {}

    def _warn(self, sentence: str | None) -> None:
        if sentence is not None:
            self._note(Noticed("warning", sentence))

    async def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return whether a tool may be called, and if not, why."""
        server, tool, arguments = self._named(params), _text(params, "tool"), params.get("arguments")
        digest = params.get("digest") if isinstance(params.get("digest"), str) else None
        accepted = self._accepted_tools[server.name]
        # In a thread: `_subject` reads a file, and analysing a crafted command can take 0.1 s and more.
        subject = await asyncio.to_thread(self._subject, server.name, accepted, tool, arguments, digest)
        verdict = await self._ask(server, tool, arguments, subject)
        if verdict is None or not verdict.allowed:
            return {"allowed": False, "why": _refusal(verdict)}
        if digest is not None and not accepted.has_accepted(tool, digest):
            self._warn(await asyncio.to_thread(accepted.accept, tool, digest))
        return {"allowed": True}

    def _subject(
        self, server: str, accepted: AcceptedTools, tool: str, arguments: Any, digest: str | None
    ) -> Subject:
        from acp_tui.permissions.subject_reader import subject_of_mcp_call

        subject = subject_of_mcp_call(server, tool, arguments, self._context)
        return subject.evolve(always_ask=accepted.change(tool, digest))

    async def _ask(
        self, server: ResolvedServer, tool: str, arguments: Any, subject: Subject
    ) -> Verdict | None:
        """Return the verdict on a call; None if the question was cancelled, as when the turn is stopped."""
        seconds = _seconds_to_ask(server)
        question = bridge_question(
            McpTool(server.name, tool, "name", is_title=True), arguments, subject, seconds
        )
        task = await self._wait(self._gate.answer(question), seconds)
        if task is None:
            why = f"nobody answered within {seconds:g} seconds"
            self._note(Decided(None, "timeout", why, allowed=False, subject=subject.description))
            return _unanswered(why)
        return None if task.cancelled() else task.result()

    async def _form(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let the user fill in a form from a server, and return the answer, which is not recorded."""
        server, message, schema = self._named(params), _text(params, "message"), params.get("schema")
        if self.fill_form is None or not isinstance(schema, dict):
            return {"action": "decline"}
        seconds = _seconds_to_ask(server)
        task = await self._wait(self.fill_form(FormRequest(message, schema, server.name)), seconds)
        if task is None:
            text = f"A question from the MCP server {server.name} was closed: no answer within {seconds:g} s."
            self._note(Noticed("warning", text))
        if task is None or task.cancelled():
            return {"action": "cancel"}
        answer = task.result()
        return {"action": answer.action} | ({} if answer.content is None else {"content": answer.content})

    async def _wait(
        self, question: Coroutine[Any, Any, _Answer], seconds: float
    ) -> asyncio.Task[_Answer] | None:
        """Wait until a question is answered or cancelled. Return its task, or None after `seconds`."""
        task = asyncio.create_task(question)
        self._asking.add(task)
        try:
            done, _ = await asyncio.wait([task], timeout=seconds)
        finally:
            self._asking.discard(task)
            task.cancel()
        return task if done else None

    async def _called(self, params: dict[str, Any]) -> None:
        server = self._named(params)
        error, seconds = params.get("error"), params.get("seconds")
        await self._records[server.name].add(
            _text(params, "tool"),
            params.get("arguments"),
            params.get("result"),
            error if isinstance(error, str) else None,
            float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < MAX_SECONDS else 0.0,
        )

    async def _log(self, params: dict[str, Any]) -> None:
        server = self._named(params)
        await self._records[server.name].log(_text(params, "kind"), _text(params, "text"))

    def _named(self, params: dict[str, Any]) -> ResolvedServer:
        server = self._servers.get(_text(params, "name"))
        if server is None:
            raise JsonRpcError(INVALID_PARAMS, "The session has no bridge to this MCP server.")
        return server


def bridge_question(tool: McpTool, arguments: Any, subject: Subject, seconds: float) -> Question:
    """Return a question that asks whether to allow a call. The question shows its time limit, `seconds`."""
    call = ToolCall(id=0, at=0.0, call_id="", title=tool.label, mcp_tool=tool, raw_input=arguments)
    options = [one for one in GUARD_OPTIONS if one.kind != "allow_always" or subject.always_ask is None]
    question = Question(None, "mcp", subject, options, why="", call=call)
    limit = f"{seconds:g} s; then the call is refused"
    question.facts = (("asked by", "acp-tui's bridge"), ("time limit", limit))
    if not arguments:
        question.facts += (("arguments", "none"),)
    return question


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise JsonRpcError(INVALID_PARAMS, f"{name} must be a string.")
    return value


def _seconds_to_ask(server: ResolvedServer) -> float:
    """Return how many seconds a question about this server waits for the user."""
    if server.timeout is None:
        return ASK_SECONDS
    return max(server.timeout - ASK_MARGIN_SECONDS, server.timeout / 2)


def _unanswered(why: str) -> Verdict:
    from acp_tui.controller.permission_gate import Verdict

    return Verdict(None, None, why)


def _refusal(verdict: Verdict | None) -> str:
    """Return the sentence that tells the agent why a call was refused.

    `verdict` is None if the question was cancelled.
    """
    if verdict is None:
        return TURN_STOPPED
    if verdict.reason:
        return f"The user rejected the call: {verdict.reason}"
    if verdict.is_by_user:
        return "The user rejected the call."
    return f"The call is not allowed: {verdict.why}."


class BridgeOffer:
    """Converts servers to ACP objects, with bridges where they are needed."""

    def __init__(self, host: BridgeHost, socket: AppSocket, note: Callable[[Event], None]) -> None:
        self._host = host
        self._socket = socket
        self._note = note

    async def objects(self, servers: Sequence[SentServer]) -> list[dict[str, Any]]:
        """Return the servers as ACP objects, in the given order.

        If the socket cannot be opened, servers that need a bridge are left out, and a notice lists them.
        """
        wanted = [one.server for one in servers if one.bridge_reason is not None]
        try:
            bridges = {bridge["name"]: bridge for bridge in await self._host.offer(wanted, self._socket)}
        except UserError as error:
            names = ", ".join(server.name for server in wanted)
            self._note(Noticed("warning", f"{error} These MCP servers are not used: {names}."))
            bridges = {}
        direct = {one.server.name: one.server.for_agent() for one in servers if one.bridge_reason is None}
        found = direct | bridges
        return [found[one.server.name] for one in servers if one.server.name in found]


class AcceptedTools:
    """The tools that the user accepted from one server, identified by the digests of their definitions.

    The first complete list of tools that is seen counts as accepted, whoever has requested it. What cannot be
    saved applies until the session ends.

    The methods read and write files: call them in a thread.
    """

    def __init__(self, server: ResolvedServer) -> None:
        self._server = server
        self._facts = McpFacts(paths().state)
        self._first: dict[str, str] | None = None  # the first list of tools, by name, if it is not saved
        self._accepted: dict[str, str] = {}  # the digests that `accept` was called with, by tool

    def accept_first(self, digests: dict[str, str], tools: Sequence[dict[str, Any]]) -> str | None:
        """Accept all tools if no others were accepted before.

        Args:
            digests: The digest of each tool, by name.
            tools: The tools as in the result of `tools/list`.

        Returns a sentence if this cannot be saved.
        """
        from acp_tui.mcp.inspection import tool_info
        from acp_tui.mcp.inspection_record import accept_first_tools

        name = self._server.name
        try:
            accept_first_tools(name, self._server.digest, digests, [tool_info(tool) for tool in tools])
        except OSError as error:
            if self._first is None and self._saved() is None:
                self._first = dict(digests)
            return self._unsaved(error)
        return None

    def change(self, tool: str, digest: str | None) -> str | None:
        """Return how a tool has changed since the user accepted it, as a clause.

        Return None if the tool is unchanged, or if it cannot be compared because no list of tools was seen.
        `digest` is None if the server does not list the tool.
        """
        if digest is not None and self.has_accepted(tool, digest):
            return None
        saved = self._saved()
        known = self._first if saved is None else saved
        before = (known or {}).get(tool, self._accepted.get(tool))
        if before == digest:
            return None
        if before is None:
            return None if known is None else "it is not among the tools of the server that you accepted"
        if digest is None:
            return "the server does not list this tool now, but you accepted it"
        return "its description or schema has changed since you accepted it"

    def has_accepted(self, tool: str, digest: str) -> bool:
        """Return whether `accept` was called for this tool with this digest."""
        return self._accepted.get(tool) == digest

    def accept(self, tool: str, digest: str) -> str | None:
        """Save that the user accepts a tool with this digest. Return a sentence if it cannot be saved."""
        self._accepted[tool] = digest
        digests = self._saved()
        if digests is None or digests.get(tool) == digest:
            return None  # without a complete list, the other tools would seem to be new
        try:
            self._facts.accept_tools(self._server.name, self._server.digest, {**digests, tool: digest})
        except OSError as error:
            return self._unsaved(error)
        return None

    def _saved(self) -> dict[str, str] | None:
        accepted = self._facts.read(self._server.name, self._server.digest).accepted
        return None if accepted is None else accepted.digests

    def _unsaved(self, error: OSError) -> str:
        name = escape_line(self._server.name)
        return (
            f"The accepted tools of the MCP server {name} cannot be saved ({error.strerror or error}). "
            "They count as accepted until this session ends."
        )


class CallRecords:
    """Records the calls of one server's tools in one conversation, and the output of the server."""

    def __init__(self, server: ResolvedServer, note: Callable[[Event], None]) -> None:
        self._server = server
        self._note = note
        self._log_file = McpLog(paths().state, server.name, server.file)
        self._secrets = secret_values(server)

    async def add(self, tool: str, arguments: Any, result: Any, error: str | None, seconds: float) -> None:
        """Record a call that has ended."""
        arguments = await asyncio.to_thread(shorten_for_record, arguments, self._secrets)
        result = await asyncio.to_thread(recordable_result, result, self._secrets)
        error = None if error is None else mask_secrets(error, self._secrets)
        self._note(McpCalled(self._server.name, tool, arguments, result, error, round(seconds, 4)))
        await asyncio.to_thread(self._write, tool, arguments, result, error, seconds)

    async def log(self, kind: str, text: str) -> None:
        """Add output of the server to the server's log.

        `kind` is `stderr`, `noise` (lines on stdout that are not messages), or `message` (MCP log messages as
        lines of JSON).
        """
        if kind == "message":
            await asyncio.to_thread(self._write_messages, text)
            return
        record = _KINDS.get(kind)
        lines = [mask_secrets(line, self._secrets) for line in text.splitlines() if line.strip()]
        if record is not None:
            await asyncio.to_thread(self._write_lines, record, lines)

    def _write_messages(self, text: str) -> None:
        for line in text.splitlines():
            message = decode(line)
            if not isinstance(message, dict):
                message = {"data": line}  # the line was cut, or says how many lines are missing
            fields = {key: shorten_for_record(message.get(key, ""), self._secrets) for key in _MESSAGE_KEYS}
            self._log_file.add("log", source="bridge", **fields)

    def _write_lines(self, kind: RecordKind, lines: list[str]) -> None:
        for line in lines:
            self._log_file.add(kind, source="bridge", line=line)

    def _write(self, tool: str, arguments: Any, result: Any, error: str | None, seconds: float) -> None:
        outcome = {"result": result} if error is None else {"failure": error}
        called = {"tool": tool, "arguments": arguments, **outcome, "seconds": round(seconds, 3)}
        self._log_file.add("call", source="bridge", **called)


def is_signed_in(url: str) -> bool:
    """Return whether the user has signed in at the MCP server with this URL."""
    from acp_tui.mcp.sign_in.token_store import sign_in_state

    return sign_in_state(url) is not None
