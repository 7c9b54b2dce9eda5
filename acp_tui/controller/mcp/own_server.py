"""acp-tui's own MCP server: its tools, the calls that are allowed, and how an agent reaches it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.controller.mcp.own_tools import (
    BuiltInTools,
    InvalidCallError,
    PreparedCall,
    ToolResult,
    UserInterface,
    failure,
)
from acp_tui.controller.permission_gate import GUARD_OPTIONS, PermissionGate
from acp_tui.controller.user_questions import Question
from acp_tui.errors import Refusal
from acp_tui.mcp.json_rpc_peer import JsonRpcError
from acp_tui.mcp.own_server import BUILT_IN, McpMessages, ToolSource
from acp_tui.permissions.subject import Subject
from acp_tui.processes.piped_process import PipedProcess, StartError, signal_name
from acp_tui.session.events import Event, OwnToolCalled, OwnToolEnded
from acp_tui.session.mcp_tool import OWN_SERVER
from acp_tui.session.record import INVALID_PARAMS
from acp_tui.session.safe_text import escape_controls

if TYPE_CHECKING:
    from acp_tui.config.user_tools import UserTool
    from acp_tui.controller.baseline_tracker import BaselineTracker
    from acp_tui.controller.mcp.app_socket import AppSocket, Handler
    from acp_tui.controller.request_params import Params
    from acp_tui.session.state import Agent, Session
    from acp_tui.workspace.files.file_access import FileAccess


MAX_RECORDED = 20_000
"""The maximum number of characters of a result in the transcript."""
MAX_OUTPUT_BYTES = 200_000
"""The maximum number of bytes of stdout of a user's tool that the agent gets."""
STDERR_LINES = 50
STOPPED = "The turn was stopped."
METHOD = "mcp/message"
"""The ACP method of all MCP messages inside the ACP connection."""


class OwnServer:
    """The MCP server of one conversation. Implements `ToolSource`."""

    def __init__(
        self,
        session: Session,
        gate: PermissionGate,
        files: FileAccess,
        baseline: BaselineTracker,
        tools: dict[str, UserTool],
        note: Callable[[Event], None],
        cwd: Path,
    ) -> None:
        self._session = session
        self._gate = gate
        self._built_in = BuiltInTools(files, baseline)
        self._user_tools = UserToolRunner(tools, cwd)
        self._note = note
        self._running: set[asyncio.Task[ToolResult]] = set()

    def connect_screen(self, interface: UserInterface) -> None:
        """Set the interface through which tools reach the user. Without an interface, such tools fail."""
        self._built_in.interface = interface

    async def tools(self) -> list[dict[str, Any]]:
        """Return the tools as MCP objects."""
        own = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
            for tool in self._user_tools.tools.values()
        ]
        return [*BUILT_IN, *own]

    def socket_handlers(self) -> dict[str, Handler]:
        """Return, by method, the functions that answer `acp-tui mcp serve` on the app's socket."""

        async def tools(_params: dict[str, Any]) -> list[dict[str, Any]]:
            return await self.tools()

        async def tool(params: dict[str, Any]) -> dict[str, Any]:
            name, arguments = params.get("name"), params.get("arguments")
            if not isinstance(name, str) or not isinstance(arguments, dict):
                raise JsonRpcError(INVALID_PARAMS, "tool: name must be a string, and arguments an object")
            return await self.call(name, arguments)

        return {"tools": tools, "tool": tool}

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, record the call, and return an MCP `CallToolResult`."""
        task = asyncio.create_task(self._call(name, arguments))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:  # the agent no longer waits
            task.cancel()
            await asyncio.wait([task])
            raise
        return (failure(STOPPED) if task.cancelled() else task.result()).as_json()

    def stop_calls(self) -> None:
        """Cancel the calls that are running, for example because the user has stopped the turn."""
        for task in self._running:
            task.cancel()

    async def close(self) -> None:
        """End the calls that are running, and wait for their processes."""
        self.stop_calls()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        try:
            call = await self._prepare(name, arguments)
        except InvalidCallError as error:
            call_id = self._new_id()
            self._note(OwnToolCalled(call_id, name, arguments))
            self._end(call_id, failure(str(error)))
            return failure(str(error))
        call_id = self._new_id()
        contained = ("old", "new") if call.diffs else ()  # the diff contains these arguments
        self._note(
            OwnToolCalled(
                call_id,
                name,
                {key: value for key, value in arguments.items() if key not in contained},
                text=call.text,
                path=call.path,
                line=call.line,
                diffs=call.diffs,
            )
        )
        try:
            result = await self._run(name, arguments, call, call_id)
        except asyncio.CancelledError:
            self._note(OwnToolEnded(call_id, "cancelled"))
            raise
        except BaseException as error:
            self._end(call_id, failure(f"{type(error).__name__}: {error}"))
            raise
        self._end(call_id, result)
        return result

    def _new_id(self) -> str:
        return f"acp-tui:tool-{len(self._session.entries)}"

    async def _prepare(self, name: str, arguments: dict[str, Any]) -> PreparedCall:
        call = await self._built_in.prepare(name, arguments) or self._user_tools.prepare(name, arguments)
        if call is None:
            raise InvalidCallError(f"There is no tool {name}.")
        return call

    async def _run(
        self, name: str, arguments: dict[str, Any], call: PreparedCall, call_id: str
    ) -> ToolResult:
        from acp_tui.permissions.tool_call_sources import mcp_call_key

        subject = Subject(
            kind="mcp",
            description=f"use `{name}` of acp-tui's own MCP server",
            server=OWN_SERVER,
            tool=name,
            served=True,
            targets=(call.target,) if call.target is not None else (),
            always_ask=call.always_ask,
        )
        if not (call.hands_over_text or subject.concerns):
            subject = subject.evolve(mcp_call=mcp_call_key(OWN_SERVER, name, arguments))
        options = [one for one in GUARD_OPTIONS if not (call.always_ask and one.kind == "allow_always")]
        question = Question(None, "tool", subject, options, why="")
        entry = self._session.own_tool_calls.get(call_id)
        if entry is not None:
            question.call = entry.call
        question.facts = call.facts
        verdict = await self._gate.answer(question)
        if verdict.allowed:
            return await call.run(call_id)
        if verdict.reason:
            return failure(f"The user rejected the call: {verdict.reason}")
        why = "The user rejected the call" if verdict.is_by_user else f"Not allowed: {verdict.why}"
        return failure(f"{why}.")

    def _end(self, call_id: str, result: ToolResult) -> None:
        text = escape_controls(result.text if result.recorded is None else result.recorded)
        if len(text) > MAX_RECORDED:
            text = f"{text[:MAX_RECORDED]}\n… {len(text) - MAX_RECORDED:,} more characters"
        self._note(OwnToolEnded(call_id, "failed" if result.failed else "completed", text))


# --------------------------------------------------------------------------- the user's own tools


class UserToolRunner:
    """The user's own tools: checks the arguments of calls and runs the commands."""

    def __init__(self, tools: dict[str, UserTool], cwd: Path) -> None:
        self.tools = tools
        self._cwd = str(cwd)

    def prepare(self, name: str, arguments: dict[str, Any]) -> PreparedCall | None:
        """Check the arguments of a call; return None if there is no such tool. Raises `InvalidCallError`."""
        tool = self.tools.get(name)
        if tool is None:
            return None
        from acp_tui.mcp.schema_validation import SchemaValidator

        if fault := SchemaValidator(tool.schema).fault(arguments):
            raise InvalidCallError(f"The arguments do not match the schema: {fault.sentence}.")

        async def run(_call_id: str) -> ToolResult:
            return await self._run(tool, arguments)

        return PreparedCall(run, facts=(("command", shlex.join(tool.command)),))

    async def _run(self, tool: UserTool, arguments: dict[str, Any]) -> ToolResult:
        program = shutil.which(tool.command[0])
        if program is None:
            return failure(f"The program {tool.command[0]} of this tool was not found.")
        try:
            process = await PipedProcess.start(
                os.path.abspath(program),  # noqa: PTH100 - keeps links
                tool.command,
                cwd=self._cwd,
                env=os.environ,
            )
        except StartError as error:
            return failure(f"The tool could not be started: {error}.")
        try:
            async with asyncio.timeout(tool.timeout):
                process.write(json.dumps(arguments).encode() + b"\n")
                process.close_stdin()
                output, is_cut = await _read(process)
                await process.wait_for_end()
        except TimeoutError:
            return failure(f"The tool did not end within {tool.timeout:g} s and was stopped.")
        finally:
            await process.end(grace_seconds=0)
        text = output.decode("utf-8", "replace")
        if is_cut:
            text += f"\n… the output is longer than {MAX_OUTPUT_BYTES:,} bytes"
        if process.returncode == 0:
            return ToolResult(text or "The tool ended without output.")
        return failure("\n".join(filter(None, (text, *process.stderr_tail(STDERR_LINES), _ending(process)))))


async def _read(process: PipedProcess) -> tuple[bytes, bool]:
    """Read all of stdout. Return the first `MAX_OUTPUT_BYTES` bytes, and whether there were more."""
    kept = b""
    is_cut = False
    while block := await process.read():
        room = MAX_OUTPUT_BYTES - len(kept)
        is_cut = is_cut or len(block) > room
        kept += block[:room]
    return kept, is_cut


def _ending(process: PipedProcess) -> str:
    code = process.returncode
    if code is None:
        return "The tool was stopped."
    return (
        f"The tool ended with exit code {code}."
        if code > 0
        else f"The tool was killed by {signal_name(-code)}."
    )


# --------------------------------------------------------------------------- how the agent reaches the server


class AcpChannel:
    """Answers the MCP requests that an agent with `mcpCapabilities.acp` sends inside the ACP connection.

    Both sides use one ACP method. Each ACP request of the agent contains one MCP request. The ACP result
    contains the MCP result or the MCP error. acp-tui sends MCP notifications with the same method. The agent
    gets an ACP error if its request does not reach the MCP server.
    """

    def __init__(self, source: ToolSource, notify: Callable[[str, dict[str, Any]], Awaitable[None]]) -> None:
        """`notify` sends a notification to the agent."""
        self._messages = McpMessages(source)
        self._notify = notify
        self._server_id: str | None = None  # None while the agent is not given the server
        self._running: set[str] = set()  # ids of MCP requests

    def declare(self) -> dict[str, Any]:
        """Return the server as an ACP object. From now on the new `serverId` is valid."""
        self._server_id = f"{OWN_SERVER}-{secrets.token_hex(8)}"
        return {"type": "acp", "name": OWN_SERVER, "serverId": self._server_id}

    def withdraw(self) -> None:
        """Refuse further requests: the `serverId` that the agent has is no longer valid."""
        self._server_id = None

    async def answer(self, params: Params) -> dict[str, Any]:
        """Return the result of an `mcp/message` request. Raises `Refusal`."""
        server_id, request_id = params.text("serverId"), params.text("requestId")
        method, inner = params.text("method"), params.values.get("params")
        if server_id != self._server_id:
            raise Refusal(INVALID_PARAMS, f"{METHOD}: there is no MCP server {server_id!r} here")
        if request_id in self._running:
            raise Refusal(INVALID_PARAMS, f"{METHOD}: the request {request_id!r} is already running")

        async def notify(name: str, values: dict[str, Any]) -> None:
            envelope = {"serverId": server_id, "requestId": request_id, "method": name, "params": values}
            await self._notify(METHOD, envelope)

        self._running.add(request_id)
        try:
            return {"result": await self._messages.answer(method, inner, notify)}
        except JsonRpcError as error:
            return {"error": error.as_json()}
        finally:
            self._running.discard(request_id)


class OwnServerOffer:
    """Offers acp-tui's MCP server to an agent: inside the ACP connection if possible, else as a process."""

    def __init__(self, is_on: Callable[[], bool], channel: AcpChannel, socket: AppSocket) -> None:
        self._is_on = is_on
        self._channel = channel
        self._socket = socket

    async def server(self, agent: Agent) -> dict[str, Any] | None:
        """Return the server as an ACP object; None if the agent gets no server. Raises `UserError`."""
        self._channel.withdraw()
        if not self._is_on():
            return None
        if agent.can("mcpCapabilities", "acp"):
            return self._channel.declare()
        path = await self._socket.open()
        command = ["-P", "-m", "acp_tui", "mcp", "serve"]  # -P: no modules from the workspace
        arguments = ["--socket", str(path), "--session", self._socket.session_key]
        return {"name": OWN_SERVER, "command": sys.executable, "args": [*command, *arguments], "env": []}
