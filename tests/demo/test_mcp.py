"""The demo agent as an MCP client, and its own MCP server."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.demo_client import DemoClient, Frame, choose
from tests.support.mcp_servers import ServerLog, stdio_command
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.mcp_servers import HttpServers

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN: Frame = {"name": "demo", "command": sys.executable, "args": ["-m", "acp_tui.demo.mcp_server"], "env": []}


def _scripted(log: ServerLog, *options: str) -> Frame:
    """Return the stdio server for tests, as a client sends it to an agent."""
    command, *args = stdio_command(*options)
    env = [{"name": "MCP_SERVER_LOG", "value": str(log.path)}]
    return {"name": "script", "command": command, "args": args, "env": env}


@pytest.fixture
def log(tmp_path: Path) -> ServerLog:
    return ServerLog(tmp_path / "server.jsonl")


async def _call(demo: DemoClient, session: str, text: str) -> tuple[Frame, str]:
    """Call a tool. Return the tool call and the text of its result."""
    await demo.prompt(session, f"/mcp call {text}")
    call = demo.calls()[-1]
    contents: list[dict[str, Any]] = call.get("content") or []
    return call, " ".join(item["content"].get("text", item["content"]["type"]) for item in contents)


async def test_own_server_counts_words_and_asks_for_an_order(demo: DemoClient) -> None:
    session = await demo.open_session(mcpServers=[OWN])
    demo.answers["elicitation/create"] = lambda params: {"action": "accept", "content": {"tea": "mint"}}
    await demo.prompt(session, "/mcp")
    assert "tool `mcp__demo__count_words`(text)" in demo.text()
    assert "resource `demo://poem`" in demo.text()
    call, _ = await _call(demo, session, 'count_words {"text": "one two"}')
    assert (call["title"], call["kind"]) == ("mcp__demo__count_words", "other")
    assert (call["rawInput"], call["rawOutput"]) == ({"text": "one two"}, {"words": 2, "characters": 7})
    call, text = await _call(demo, session, "mcp__demo__brew_tea")
    assert text == "One mint tea without milk. Spoons of sugar: 0."
    [question] = demo.requests("elicitation/create")
    assert question["message"] == "The MCP server demo asks: How do you take your tea?"
    await demo.call("session/close", sessionId=session)


async def test_permission_is_asked_before_a_tool_is_called(demo: DemoClient, log: ServerLog) -> None:
    session = await demo.open_session(mcpServers=[_scripted(log)])
    demo.answers["session/request_permission"] = lambda params: choose(params, "reject_once")
    call, text = await _call(demo, session, 'delete {"path": "/etc"}')
    assert (call["status"], text) == ("failed", "Rejected by the user.")
    assert log.calls() == []
    await demo.call("session/close", sessionId=session)


async def test_results_of_tools_are_passed_on_as_they_are(demo: DemoClient, log: ServerLog) -> None:
    session = await demo.open_session(mcpServers=[_scripted(log)])
    call, text = await _call(demo, session, "content")
    assert text == "plain text image audio resource_link resource resource"
    call, text = await _call(demo, session, 'fail {"message": "no disk"}')
    assert (call["status"], text) == ("failed", "no disk")
    call, text = await _call(demo, session, 'progress {"steps": 2}')
    assert text == "2 steps"
    assert "step 1" in str(demo.updates("tool_call_update"))
    assert log.calls() == [("content", {}), ("fail", {"message": "no disk"}), ("progress", {"steps": 2})]
    await demo.call("session/close", sessionId=session)
    assert log.methods()[-1] == "end"


async def test_server_that_dies_is_started_again_by_the_next_call(demo: DemoClient, log: ServerLog) -> None:
    demo.sends_invalid = True  # the server's last words are on the agent's stderr
    session = await demo.open_session(mcpServers=[_scripted(log)])
    call, text = await _call(demo, session, "crash")
    assert (call["status"], text) == ("failed", "The MCP server script failed: Connection closed")
    call, text = await _call(demo, session, 'echo {"text": "back"}')
    assert text == "back"
    await demo.call("session/close", sessionId=session)


@pytest.mark.parametrize(
    ("command", "answer"),
    [("/mcp", "tool `mcp__script__echo`(text)"), ('/mcp call echo {"text": "back"}', "answered: back")],
)
async def test_server_that_exits_between_calls_is_started_again(
    demo: DemoClient, log: ServerLog, command: str, answer: str
) -> None:
    session = await demo.open_session(mcpServers=[_scripted(log)])
    await demo.prompt(session, '/mcp call echo {"text": "first"}')
    os.kill(log.messages("initialize")[0]["pid"], signal.SIGKILL)
    await demo.prompt(session, command)
    assert answer in demo.text()
    assert len(log.messages("initialize")) == 2
    await demo.call("session/close", sessionId=session)


async def test_cancelling_the_turn_cancels_the_call(demo: DemoClient, log: ServerLog, tmp_path: Path) -> None:
    session = await demo.open_session(mcpServers=[_scripted(log)])
    _, answer = demo.start_prompt(session, f'/mcp call wait {{"path": "{tmp_path / "never"}"}}')
    await demo.until(lambda: "waiting" in str(demo.updates("tool_call_update")))
    demo.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"
    await demo.call("session/close", sessionId=session)
    assert "notifications/cancelled" in log.methods()


async def test_session_with_a_mute_server_can_be_cancelled_and_closed(
    demo: DemoClient, log: ServerLog
) -> None:
    session = await demo.open_session(mcpServers=[_scripted(log, "--mute")])
    _, answer = demo.start_prompt(session, "/mcp")
    await until(lambda: "initialize" in log.methods())
    demo.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"
    await demo.call("session/close", sessionId=session)


async def test_servers_over_http_and_sse_are_called_with_their_headers(
    demo: DemoClient, http_servers: HttpServers
) -> None:
    header = {"name": "X-Key", "value": "open sesame"}
    web = {"type": "http", "name": "web", "url": http_servers.url("/key/mcp"), "headers": [header]}
    old = {"type": "sse", "name": "old", "url": http_servers.url("/sse"), "headers": []}
    session = await demo.open_session(mcpServers=[web, old])
    results = [await _call(demo, session, f'mcp__{name}__echo {{"text": "hi"}}') for name in ("web", "old")]
    assert [text for _, text in results] == ["hi", "hi"]
    await demo.call("session/close", sessionId=session)


async def test_unknown_tools_and_invalid_arguments_are_explained(demo: DemoClient, log: ServerLog) -> None:
    session = await demo.open_session(mcpServers=[_scripted(log)])
    await demo.prompt(session, "/mcp call nothing {}")
    assert "None of the servers has a tool `nothing`." in demo.text()
    await demo.prompt(session, "/mcp call echo [1]")
    assert "Call a tool with its name and a JSON object" in demo.text()
    await demo.call("session/close", sessionId=session)


async def test_mcp_sdk_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, acp_tui.demo.agent; print(sorted({'mcp', 'mcp_types', 'httpx2'} & set(sys.modules)))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert output == b"[]\n"
