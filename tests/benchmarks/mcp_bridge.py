"""What a call of an MCP tool costs through the bridge, and how long the bridge takes to start.

    python -m tests.benchmarks.mcp_bridge [CALLS]

Calls the same tool of the same server directly and through the bridge, in turns. The bridge asks a real
conversation for permission, whose policy allows it, and the conversation records each call. Prints
milliseconds, and the difference of the 95th percentiles, which must be at most 5 ms.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from acp_tui.config.mcp import SentServer
from acp_tui.mcp.json_rpc_peer import JsonRpcPeer
from acp_tui.processes.piped_process import PipedProcess
from tests.support.mcp_servers import run_http_servers, stdio_server
from tests.support.scripted_conversation import scripted_conversation

CALLS = 400
GOAL_MS = 5.0


class Agent:
    """A client of one MCP server over stdio."""

    def __init__(self, process: PipedProcess) -> None:
        self._process = process
        self._peer = JsonRpcPeer(process, on_request=self._refuse)
        self._task = asyncio.create_task(self._peer.run())

    @classmethod
    async def start(cls, command: list[str]) -> tuple[Agent, float]:
        """Start a server. Return the client, and the milliseconds until the server answered."""
        began = time.perf_counter()
        agent = cls(await PipedProcess.start(command[0], command, cwd="/", env={"PATH": "/usr/bin:/bin"}))
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": ""},
        }
        await agent._peer.request("initialize", params)
        return agent, 1000 * (time.perf_counter() - began)

    async def call(self) -> float:
        """Call a tool and return the milliseconds."""
        began = time.perf_counter()
        await self._peer.request("tools/call", {"name": "echo", "arguments": {"text": "hello"}})
        return 1000 * (time.perf_counter() - began)

    async def close(self) -> None:
        await self._process.end()
        await self._task

    async def _refuse(self, method: str, params: Any, request_id: int | str) -> Any:
        raise RuntimeError(method)


async def main(count: int) -> bool:
    """Measure, and return whether the goal is reached."""
    with tempfile.TemporaryDirectory() as folder, run_http_servers(Path(folder)) as http:
        script = stdio_server()
        conversation = scripted_conversation(Path(folder), "script", policy="yolo").conversation
        offered = [SentServer(script, "measured"), SentServer(http.server(), "measured")]
        bridges = await conversation._opener._bridges.objects(offered)
        commands = [[bridge["command"], *bridge["args"]] for bridge in bridges]
        direct, direct_start = await Agent.start([script.command, *script.args])
        bridged, bridged_start = await Agent.start(commands[0])
        over_http, http_start = await Agent.start(commands[1])
        agents = {"direct": direct, "bridged": bridged}
        times: dict[str, list[float]] = {name: [] for name in agents}
        for _ in range(count):
            for name, agent in agents.items():
                times[name].append(await agent.call())
        for agent in (*agents.values(), over_http):
            await agent.close()
        await conversation.close()
    p95 = {name: statistics.quantiles(values, n=20)[-1] for name, values in times.items()}
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"start until the first answer: direct {direct_start:.0f} ms, bridge {bridged_start:.0f} ms")
    print(f"the same for an http server, which needs the SDK: bridge {http_start:.0f} ms")
    for name in times:
        print(f"{name}: median {medians[name]:.2f} ms, p95 {p95[name]:.2f} ms")
    overhead, ratio = p95["bridged"] - p95["direct"], medians["bridged"] / medians["direct"]
    print(f"overhead: p95 {overhead:.2f} ms (goal: {GOAL_MS:g} ms), median ratio {ratio:.1f}")
    return overhead <= GOAL_MS


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["ACP_TUI_HOME"] = home
        sys.exit(not asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)))
