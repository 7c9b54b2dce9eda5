"""The bridge between an agent and an MCP server, with real servers."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.mcp.bridge.bridge import Bridge
from acp_tui.mcp.bridge.program import StdioUpstream, open_sdk_upstream
from acp_tui.mcp.json_rpc_peer import JsonRpcError, JsonRpcPeer, SocketStream
from tests.support.mcp_servers import stdio_server
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acp_tui.config.mcp import ResolvedServer
    from tests.support.mcp_servers import HttpServers, ServerLog

HELLO = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "an agent", "version": "1"}}


@dataclass
class FakeGuard:
    """Allows all calls except those of one tool, and keeps the records."""

    refused: str = ""
    forms: bool = False
    calls: list[dict[str, Any]] = field(default_factory=list)
    digests: list[str | None] = field(default_factory=list)
    reports: list[dict[str, str]] = field(default_factory=list)
    output: str = ""

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:
        self.digests.append(digest)
        return "The user said no." if tool == self.refused else None

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        self.reports.append(digests)

    async def form(self, message: str, schema: Any) -> dict[str, Any]:
        return {"action": "accept", "content": {"asked": message}}

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        self.calls.append({"tool": tool, "arguments": arguments, "result": result, "error": error})

    def log(self, kind: str, text: str) -> None:
        self.output += f"{kind}: {text}"


@dataclass
class FakeAgent:
    """The agent's side of the bridge."""

    peer: JsonRpcPeer
    guard: FakeGuard
    notifications: list[tuple[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, Any]] = field(default_factory=list)
    answer: Any = None

    async def start(self, **capabilities: Any) -> Any:
        return await self.peer.request("initialize", {**HELLO, "capabilities": capabilities})

    async def tools(self) -> list[str]:
        return [tool["name"] for tool in (await self.peer.request("tools/list"))["tools"]]

    async def call(self, tool: str, **arguments: Any) -> Any:
        return await self.peer.request("tools/call", {"name": tool, "arguments": arguments})

    async def text(self, tool: str, **arguments: Any) -> str:
        return str((await self.call(tool, **arguments))["content"][0]["text"])


@asynccontextmanager
async def bridged(server: ResolvedServer, folder: Path) -> AsyncIterator[FakeAgent]:
    ours, theirs = socket.socketpair()
    stream = SocketStream(*await asyncio.open_connection(sock=ours))
    agents_stream = SocketStream(*await asyncio.open_connection(sock=theirs))

    async def answer(method: str, params: Any, _request_id: int | str) -> Any:
        started.requests.append((method, params))
        return started.answer

    guard = FakeGuard()
    peer = JsonRpcPeer(
        agents_stream,
        on_request=answer,
        on_notification=lambda method, params: started.notifications.append((method, params)),
    )
    started = FakeAgent(peer, guard)
    opens = StdioUpstream.start if server.transport == "stdio" else open_sdk_upstream
    bridge = Bridge(
        server, stream, guard, roots=[folder], open_upstream=opens, open_translator=open_sdk_upstream
    )
    tasks = [asyncio.create_task(bridge.run()), asyncio.create_task(peer.run())]
    try:
        yield started
    finally:
        await agents_stream.close()
        await asyncio.gather(*tasks)
        await stream.close()


@pytest.fixture
async def agent(tmp_path: Path, server_log: ServerLog) -> AsyncIterator[FakeAgent]:
    async with bridged(stdio_server(), tmp_path) as agent:
        yield agent


async def test_the_agent_reaches_the_server_and_each_call_is_recorded(
    agent: FakeAgent, server_log: ServerLog
) -> None:
    started = await agent.start()
    assert started["serverInfo"] == {"name": "script", "version": "1.2.3"}
    assert await agent.text("echo", text="hello") == "hello"
    assert server_log.calls() == [("echo", {"text": "hello"})]
    result = {"content": [{"type": "text", "text": "hello"}]}
    assert agent.guard.calls == [
        {"tool": "echo", "arguments": {"text": "hello"}, "result": result, "error": None}
    ]


async def test_the_agents_own_words_reach_the_server(agent: FakeAgent, server_log: ServerLog) -> None:
    await agent.start(elicitation={})
    params = server_log.messages("initialize")[0]["params"]
    assert params["clientInfo"]["name"] == "an agent"
    assert params["protocolVersion"] == "2025-06-18"
    assert params["capabilities"] == {"elicitation": {}, "roots": {}}


async def test_the_server_is_told_of_forms_if_the_agent_shows_only_pages(
    agent: FakeAgent, server_log: ServerLog
) -> None:
    agent.guard.forms = True
    await agent.start(elicitation={"url": {}})
    params = server_log.messages("initialize")[0]["params"]
    assert params["capabilities"]["elicitation"] == {"url": {}, "form": {}}


async def test_prompts_resources_and_errors_pass_through(agent: FakeAgent) -> None:
    await agent.start()
    read = await agent.peer.request("resources/read", {"uri": "test://readme"})
    assert read["contents"][0]["text"] == "The text of test://readme\n"
    with pytest.raises(JsonRpcError, match="Missing required argument: name"):
        await agent.peer.request("prompts/get", {"name": "greet"})


async def test_a_refused_call_does_not_reach_the_server(agent: FakeAgent, server_log: ServerLog) -> None:
    await agent.start()
    agent.guard.refused = "delete"
    result = await agent.call("delete", path="x")
    assert result == {"content": [{"type": "text", "text": "The user said no."}], "isError": True}
    assert server_log.calls() == []
    assert agent.guard.calls[0]["error"] == "The user said no."


async def test_the_digest_of_a_tool_changes_with_its_description(agent: FakeAgent) -> None:
    await agent.start()
    await agent.call("echo", text="x")
    await agent.call("change")
    await until(lambda: len(agent.notifications) == 3)  # one for each list
    await agent.call("echo", text="x")
    before, _, after = agent.guard.digests
    assert before is not None
    assert after is not None
    assert before != after


async def test_progress_is_passed_on_and_cancelling_reaches_the_server(
    agent: FakeAgent, server_log: ServerLog
) -> None:
    await agent.start()
    params = {"name": "wait", "arguments": {"path": "/nonexistent"}, "_meta": {"progressToken": "p"}}
    call = asyncio.create_task(agent.peer.request("tools/call", params))
    await until(lambda: agent.notifications)
    assert agent.notifications[0][1]["progressToken"] == "p"
    call.cancel()
    await until(lambda: server_log.messages("notifications/cancelled"))
    await until(lambda: agent.guard.calls)
    assert agent.guard.calls[0]["error"] == "The agent cancelled the call."


async def test_roots_are_the_workspace_and_sampling_is_declined_unless_the_agent_answers(
    agent: FakeAgent, tmp_path: Path
) -> None:
    await agent.start()
    assert json.loads(await agent.text("roots"))["roots"][0]["uri"] == tmp_path.as_uri()
    with pytest.raises(JsonRpcError, match="does not let servers use its model"):
        await agent.call("sample")
    assert agent.requests == []


async def test_questions_of_the_server_go_to_an_agent_that_can_answer(agent: FakeAgent) -> None:
    await agent.start(elicitation={})
    agent.answer = {"action": "accept", "content": {"name": "Ada"}}
    assert json.loads(await agent.text("ask")) == agent.answer
    assert agent.requests[0][0] == "elicitation/create"


@pytest.mark.parametrize(
    ("protocol", "capabilities"),
    [("2025-06-18", {}), ("2026-07-28", {}), ("2025-06-18", {"elicitation": {}})],
)
async def test_the_app_shows_the_questions_of_a_server(
    protocol: str, capabilities: dict[str, Any], tmp_path: Path
) -> None:
    async with bridged(stdio_server("--protocol", protocol), tmp_path) as agent:
        agent.guard.forms = True
        agent.answer = {"action": "decline"}
        await agent.start(**capabilities)
        answer = {"action": "accept", "content": {"asked": "Who are you?"}}
        assert json.loads(await agent.text("ask")) == answer
        assert agent.requests == []
        assert json.loads(await agent.text("open"))["action"] == "decline"  # a page: the agent may open it
        assert [method for method, _ in agent.requests] == ["elicitation/create"] * len(capabilities)


async def test_a_server_may_ask_ten_times_before_its_result(tmp_path: Path) -> None:
    async with bridged(stdio_server("--protocol", "2026-07-28"), tmp_path) as agent:
        await agent.start(elicitation={})
        agent.answer = {"action": "decline"}
        assert json.loads(await agent.text("ask", times=10)) == agent.answer
        assert len(agent.requests) == 10
        with pytest.raises(JsonRpcError, match="script asked for input 10 times, but sent no result"):
            await agent.call("ask", times=11)


async def test_log_messages_are_kept(agent: FakeAgent) -> None:
    await agent.start()
    await agent.text("log", text="a line")
    assert 'message: {"level": "info", "logger": "test", "data": "a line"}' in agent.guard.output
    assert agent.notifications[-1][0] == "notifications/message"


async def test_a_server_that_has_ended_is_answered_with_one_sentence(agent: FakeAgent) -> None:
    await agent.start()
    for tool in ("crash", "echo"):
        with pytest.raises(JsonRpcError) as failure:
            await agent.call(tool)
        assert failure.value.message == (
            "The MCP server script exited with code 3; "
            "it wrote: Traceback: the database is gone / fatal: giving up."
        )
    assert "stderr: Traceback" in agent.guard.output


async def test_tools_are_filtered_and_calls_have_a_time_limit_and_a_folder(
    tmp_path: Path, server_log: ServerLog
) -> None:
    server = replace(
        stdio_server(),
        include_tools=("echo", "wait", "environment"),
        exclude_tools=("echo",),
        timeout=0.05,
        cwd=tmp_path.parent,
    )
    async with bridged(server, tmp_path) as agent:
        await agent.start()
        assert await agent.tools() == ["wait", "environment"]
        with pytest.raises(JsonRpcError, match="The tool echo of script is excluded"):
            await agent.call("echo", text="x")
        with pytest.raises(JsonRpcError, match="did not answer the call to wait within 0"):
            await agent.call("wait", path="/nonexistent")
        await until(lambda: server_log.messages("notifications/cancelled"))
    assert [call["error"] is None for call in agent.guard.calls] == [False, False]


async def test_permission_is_asked_although_the_server_does_not_list_its_tools_in_time(
    tmp_path: Path,
) -> None:
    async with bridged(replace(stdio_server("--mute", "tools/list"), timeout=0.05), tmp_path) as agent:
        await agent.start()
        call = asyncio.create_task(agent.call("echo", text="x"))
        await until(lambda: agent.guard.digests)
        assert agent.guard.digests == [None]
        await asyncio.wait([call])


async def test_the_server_starts_in_its_folder_with_its_variables(tmp_path: Path) -> None:
    server = replace(stdio_server(env={"TOKEN_X": "1"}), cwd=tmp_path.parent)
    async with bridged(server, tmp_path) as agent:
        await agent.start()
        found = json.loads(await agent.text("environment", names=["TOKEN_X"]))
    assert found == {"cwd": str(tmp_path.parent), "env": {"TOKEN_X": "1"}}


async def test_a_server_that_cannot_be_started_is_explained(tmp_path: Path) -> None:
    async with bridged(replace(stdio_server(), command="/nonexistent"), tmp_path) as agent:
        with pytest.raises(JsonRpcError, match="script could not be started: /nonexistent: "):
            await agent.start()


async def test_an_agent_with_a_handshake_can_use_a_server_without(
    tmp_path: Path, server_log: ServerLog
) -> None:
    async with bridged(stdio_server("--protocol", "2026-07-28"), tmp_path) as agent:
        started = await agent.start(elicitation={})
        assert started["protocolVersion"] == "2025-06-18"
        assert started["serverInfo"]["name"] == "script"
        agent.answer = {"action": "accept", "content": {"name": "Ada"}}
        assert json.loads(await agent.text("ask")) == agent.answer
        await agent.call("change")
        await until(lambda: ("notifications/tools/list_changed", {}) in agent.notifications)


async def test_an_agent_without_a_handshake_reaches_a_server_without(tmp_path: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    async with bridged(stdio_server("--protocol", "2026-07-28"), tmp_path) as agent:
        found = await agent.peer.request("server/discover", {"_meta": meta})
        assert found["supportedVersions"] == ["2026-07-28"]
        agent.guard.refused = "delete"
        refused = await agent.peer.request("tools/call", {"name": "delete", "_meta": meta})
        assert refused["resultType"] == "complete"


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
async def test_a_server_over_http_is_reached_with_its_headers(
    path: str, http_servers: HttpServers, tmp_path: Path
) -> None:
    server = http_servers.server(path, headers={"X-Key": "open sesame"})
    async with bridged(server, tmp_path) as agent:
        assert (await agent.start())["serverInfo"]["name"] == "http"
        tools = await agent.tools()
        assert await agent.text("echo", text="over http") == "over http"
        assert "echo" in tools
        assert agent.guard.calls[0]["error"] is None


async def test_a_server_over_http_that_fails_is_explained(http_servers: HttpServers, tmp_path: Path) -> None:
    async with bridged(http_servers.server("/status/503"), tmp_path) as agent:
        with pytest.raises(JsonRpcError, match="503"):
            await agent.start()
