"""Saving when a server was given to an agent, and when the agent called one of its tools."""

from __future__ import annotations

import json
from pathlib import Path

from acp_tui.config.mcp import Server
from acp_tui.config.paths import paths
from acp_tui.controller.mcp.usage_facts import UsageFacts
from acp_tui.session.events import McpCalled, SessionOpened, SessionOpening
from acp_tui.session.mcp_tool import McpTool
from acp_tui.session.record import Change
from acp_tui.session.state import ToolCall
from acp_tui.store.mcp_facts import McpFacts, ServerFacts
from tests.support.cli import execute, steps

FILES = Server("files", Path("/settings.json"), 1, command="sh")


def saved(server: Server = FILES) -> ServerFacts:
    """Return what is saved about a server."""
    return McpFacts(paths().state).read(server.name, server.digest())


async def test_servers_count_as_sent_once_the_session_is_open() -> None:
    facts = UsageFacts([FILES], "claude", "s1")
    facts.record([SessionOpening("new", "/", mcp_servers=["files", "acp-tui"])], [], history=False)
    await facts.finish()
    assert saved().sent is None
    facts.record([SessionOpened("x", how="new")], [], history=True)
    await facts.finish()
    sent = saved().sent
    assert sent is not None
    assert (sent.agent, sent.session) == ("claude", "s1")


async def test_calls_through_the_bridge_and_calls_in_the_transcript_are_uses() -> None:
    facts = UsageFacts([FILES], "claude", "s1")
    facts.record([McpCalled("files", "read")], [], history=False)
    await facts.finish()
    used = saved().used
    assert used is not None
    assert (used.tool, used.evidence) == ("read", "the bridge")
    call = ToolCall(id=1, at=0.0, call_id="c1")
    call.mcp_tool = McpTool("files", "write", "title")
    facts.record([], [Change("added", call)], history=True)
    await facts.finish()
    assert saved().used == used
    facts.record([], [Change("added", call)], history=False)
    await facts.finish()
    used = saved().used
    assert used is not None
    assert (used.tool, used.evidence) == ("write", "the agent's title for the call")


async def test_calls_by_the_user_are_no_uses() -> None:
    facts = UsageFacts([FILES], "claude", "s1")
    facts.record([McpCalled("files", "read", by="you")], [], history=False)
    await facts.finish()
    assert saved().used is None


def test_a_run_saves_the_servers_that_it_sent(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"files": {"command": "sh"}}}))
    run = execute(steps(["say", "hello"]), "--mcp-config", str(file), cwd=tmp_path)
    assert run.code == 0, run.err
    content = json.loads((paths().state / "mcp-facts.json").read_text())
    (facts,) = content["servers"].values()
    assert facts["sent"]["agent"]
