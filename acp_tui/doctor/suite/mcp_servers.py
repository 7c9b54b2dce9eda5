"""Checks of the MCP servers that a session is opened with. The servers record what reaches them."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite import mcp_probe
from acp_tui.doctor.suite.client import Failed, NotSeen
from acp_tui.doctor.suite.mcp_probe import HEADER, TOOL, VARIABLE, HttpProbe

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import ObservedTurn

ARGUMENTS = ["two words", "--flag=ü", ""]
VALUE = "a value"
CONNECT_SECONDS = 10.0
"""How long to wait for a connection at the start of a session, and again after a turn."""
POLL_SECONDS = 0.05
_NOT_CONNECTED = (
    "the agent did not connect to the server, neither at the start of the session nor for a prompt"
)


class StdioProbe:
    """A definition of the server over stdio, with the file in which it records what it receives."""

    def __init__(self, record: Path) -> None:
        self._record = record
        script = mcp_probe.__file__
        self.definition = {
            "name": "acp-tui-probe",
            "command": sys.executable,
            "args": ["-I", "-S", script, str(record), *ARGUMENTS],
            "env": [{"name": VARIABLE, "value": VALUE}],
        }

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What the server has recorded: how it was started, then the messages; nothing if it never was."""
        try:
            *lines, _ = self._record.read_text("utf-8").split("\n")
        except OSError:
            return []
        return [json.loads(line) for line in lines]

    def received(self, method: str) -> bool:
        return any(entry.get("method") == method for entry in self.entries)


async def stdio(bench: Bench) -> None:
    probe = await _stdio_probe(bench)
    if not probe.received("initialize"):
        raise Failed(_NOT_CONNECTED)


async def stdio_arguments(bench: Bench) -> None:
    started = await _start_of_server(bench)
    if started["arguments"] != ARGUMENTS:
        raise Failed(f"the server was started with {started['arguments']!r} instead of {ARGUMENTS!r}")


async def stdio_environment(bench: Bench) -> None:
    started = await _start_of_server(bench)
    if started["variable"] != VALUE:
        raise Failed(f"the server's variable has the value {started['variable']!r} instead of {VALUE!r}")


async def http(bench: Bench) -> None:
    await _connect_over(bench, "http", "/mcp")


async def http_headers(bench: Bench) -> None:
    _require_header(await _headers_over(bench, "http", "/mcp"))


async def sse(bench: Bench) -> None:
    await _connect_over(bench, "sse", "/sse")


async def sse_headers(bench: Bench) -> None:
    _require_header(await _headers_over(bench, "sse", "/sse"))


async def unreachable(bench: Bench) -> None:
    client = await bench.client()
    missing = {"name": "acp-tui-missing", "command": str(bench.scratch / "missing"), "args": [], "env": []}
    params = {"cwd": str(bench.folder("shared")), "mcpServers": [missing]}
    await client.answer(client.send_request("session/new", params))


async def tool_call(bench: Bench) -> None:
    probe = StdioProbe(bench.scratch / "mcp-tool.jsonl")
    turn = await _turn_with(bench, [probe.definition])
    if not probe.received("tools/call"):
        raise NotSeen(f"the agent did not call the tool {TOOL}")
    if not turn.tool_calls:
        raise Failed("the agent called a tool of an MCP server without reporting a tool call")


async def _stdio_probe(bench: Bench) -> StdioProbe:
    """Return the server with which a session was opened."""
    probe = StdioProbe(bench.scratch / "mcp-stdio.jsonl")

    async def connect() -> None:
        await _connect(bench, probe.definition, lambda: probe.received("initialize"))

    await bench.shared("MCP over stdio", connect)
    return probe


async def _start_of_server(bench: Bench) -> dict[str, Any]:
    """Return how the server was started. Raises `NotSeen` if it was not."""
    probe = await _stdio_probe(bench)
    if not probe.entries:
        raise NotSeen("the agent did not start the server")
    return probe.entries[0]


async def _connect_over(bench: Bench, kind: str, path: str) -> None:
    if not await _headers_over(bench, kind, path):
        raise Failed(_NOT_CONNECTED)


async def _headers_over(bench: Bench, kind: str, path: str) -> list[str | None]:
    """Return the header of each request to a server with which a session was opened.

    Raises `NotOffered` if the agent does not support this kind of server.
    """

    async def connect() -> list[str | None]:
        client = await bench.client()
        client.require("mcpCapabilities", kind)
        with HttpProbe() as probe:
            headers = [{"name": HEADER, "value": VALUE}]
            definition = {"type": kind, "name": f"acp-tui-{kind}", "url": probe.url(path), "headers": headers}
            await _connect(bench, definition, lambda: any(place == path for _, place, _ in probe.received))
        return [header for _, place, header in probe.received if place == path]

    return await bench.shared(f"MCP over {kind}", connect)


def _require_header(headers: list[str | None]) -> None:
    if not headers:
        raise NotSeen("the agent did not connect to the server")
    if wrong := [value for value in headers if value != VALUE]:
        raise Failed(f"the header {HEADER} has the value {wrong[0]!r} instead of {VALUE!r}")


async def _connect(bench: Bench, definition: dict[str, Any], connected: Callable[[], bool]) -> None:
    """Open a session with a server, and run a turn in it if the agent does not connect before."""
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"), mcpServers=[definition])
    if not await _until(bench, connected):
        await client.run_turn(session, bench.prompt("mcp"))
        await _until(bench, connected)


async def _turn_with(bench: Bench, servers: list[dict[str, Any]]) -> ObservedTurn:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"), mcpServers=servers)
    return await client.run_turn(session, bench.prompt("mcp"))


async def _until(bench: Bench, condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds that no message of the agent announces."""
    try:
        async with asyncio.timeout(min(CONNECT_SECONDS, bench.timeout)):
            while not condition():  # noqa: ASYNC110  # another process makes it true
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        return False
    return True
