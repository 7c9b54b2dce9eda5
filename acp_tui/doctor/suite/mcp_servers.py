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
    from acp_tui.doctor.suite.client import Turn

ARGUMENTS = ["two words", "--flag=ü", ""]
VALUE = "a value"
CONNECT_SECONDS = 10.0
"""How long to wait for a connection at the start of a session, and again after a turn."""
POLL_SECONDS = 0.05


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
    await _stdio_probe(bench)


async def stdio_arguments(bench: Bench) -> None:
    started = (await _stdio_probe(bench)).entries[0]
    if started["arguments"] != ARGUMENTS:
        raise Failed(f"the server was started with {started['arguments']!r} instead of {ARGUMENTS!r}")


async def stdio_environment(bench: Bench) -> None:
    started = (await _stdio_probe(bench)).entries[0]
    if started["variable"] != VALUE:
        raise Failed(f"the server's variable has the value {started['variable']!r} instead of {VALUE!r}")


async def http(bench: Bench) -> None:
    await _http_probe(bench, "http", "/mcp")


async def http_headers(bench: Bench) -> None:
    _require_header(await _http_probe(bench, "http", "/mcp"), "/mcp")


async def sse(bench: Bench) -> None:
    _require_header(await _http_probe(bench, "sse", "/sse"), "/sse")


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
    """Return the server after an agent has connected to it. Raises `Failed` if it does not connect."""
    record = bench.scratch / "mcp-stdio.jsonl"
    probe = StdioProbe(record)
    if not probe.entries:  # by an earlier check
        await _connect(bench, probe.definition, lambda: probe.received("initialize"))
    return probe


async def _http_probe(bench: Bench, kind: str, path: str) -> HttpProbe:
    """Return the server after an agent has connected to it. Raises as `_stdio_probe` does."""
    client = await bench.client()
    client.require("mcpCapabilities", kind)
    with HttpProbe() as probe:
        headers = [{"name": HEADER, "value": VALUE}]
        definition = {"type": kind, "name": f"acp-tui-{kind}", "url": probe.url(path), "headers": headers}
        await _connect(bench, definition, lambda: any(place == path for _, place, _ in probe.received))
    return probe


def _require_header(probe: HttpProbe, path: str) -> None:
    if wrong := [value for _, place, value in probe.received if place == path and value != VALUE]:
        raise Failed(f"the header {HEADER} has the value {wrong[0]!r} instead of {VALUE!r}")


async def _connect(bench: Bench, definition: dict[str, Any], connected: Callable[[], bool]) -> None:
    """Open a session with a server, and run a turn in it if the agent does not connect before.

    Raises `Failed` if the agent does not connect then either.
    """
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"), mcpServers=[definition])
    if await _until(bench, connected):
        return
    await client.run_turn(session, bench.prompt("mcp"))
    if not await _until(bench, connected):
        raise Failed("the agent did not connect to the server, neither at the start nor for a prompt")


async def _turn_with(bench: Bench, servers: list[dict[str, Any]]) -> Turn:
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
