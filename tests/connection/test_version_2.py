"""Version 2 of the protocol: negotiation, turns, batches, and messages that follow its schema."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.connection.errors import NotSupported, RequestFailed
from acp_tui.connection.params import SessionSetup
from acp_tui.session.state import AgentMessage, Terminal, ToolCall, UserMessage
from tests.support.connection import SESSION, text
from tests.support.version_2 import violations
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.connection.conftest import MakeClient
    from tests.support.connection import Client

ALLOWED = {"outcome": {"outcome": "selected", "optionId": "yes"}}


def of_version_2(client: MakeClient, how: str = "speaks", protocol: str = "2") -> Client:
    """Return a client that asks an agent for version 2."""
    agent = client("version_2", how)
    agent.launch.protocol = protocol  # type: ignore[assignment]
    return agent


async def allow(_params: dict[str, Any]) -> dict[str, Any]:
    """Allow a permission request."""
    return ALLOWED


@pytest.mark.parametrize("protocol", ["2", "newest"])
async def test_version_2_is_asked_for_and_spoken(client: MakeClient, protocol: str) -> None:
    agent = of_version_2(client, protocol=protocol)
    await agent.open()
    assert agent.session.dialect == "v2"
    assert [frame["method"] for frame in agent.frames("sent")] == ["initialize", "session/new"]


async def test_version_1_is_asked_for_by_default(client: MakeClient) -> None:
    agent = of_version_2(client, protocol="1")
    await agent.open()
    assert agent.session.dialect == "v1"


@pytest.mark.parametrize("how", ["refuses", "pretends"])
async def test_an_agent_without_version_2_goes_on_in_version_1(client: MakeClient, how: str) -> None:
    agent = of_version_2(client, how)
    connection = await agent.open()
    asked = [frame["params"] for frame in agent.frames("sent") if frame["method"] == "initialize"]
    assert [params["protocolVersion"] for params in asked] == [2, 1]
    assert "clientCapabilities" in asked[1]
    assert agent.session.dialect == "v1"
    assert await connection.prompt(SESSION, text("hello")) == "end_turn"
    said = [getattr(entry, "text", "") for entry in agent.session.entries]
    assert "The agent does not speak version 2 of the protocol; going on in version 1" in said


async def test_a_turn_ends_with_the_state_and_not_with_the_answer(client: MakeClient) -> None:
    agent = of_version_2(client)
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("hello")) == "end_turn"
    assert [entry.text for entry in agent.session.entries if isinstance(entry, AgentMessage)] == [
        "you said hello"
    ]
    with pytest.raises(RequestFailed, match="no credit"):
        await connection.prompt(SESSION, text("fail"))


async def test_a_cancelled_turn_ends_when_the_agent_says_so(client: MakeClient) -> None:
    agent = of_version_2(client)
    connection = await agent.open()
    turn = asyncio.create_task(connection.prompt(SESSION, text("wait")))
    await until(
        lambda: any(isinstance(entry, UserMessage) and entry.message_id for entry in agent.session.entries)
    )
    await connection.cancel(SESSION)
    assert await turn == "cancelled"
    assert violations(agent.records, "sent") == []


async def test_files_and_terminals_are_not_served(client: MakeClient) -> None:
    agent = of_version_2(client)
    connection = await agent.open()
    await connection.prompt(SESSION, text("read"))
    assert agent.served == []
    assert agent.said()[-1] == "-32601"


async def test_a_permission_is_asked_for_and_answered(client: MakeClient) -> None:
    agent = of_version_2(client)
    agent.handlers["session/request_permission"] = allow
    connection = await agent.open()
    await connection.prompt(SESSION, text("ask"))
    assert json.loads(agent.said()[-1]) == ALLOWED


async def test_the_requests_of_a_batch_are_answered_in_one_array(client: MakeClient) -> None:
    agent = of_version_2(client)
    agent.handlers["session/request_permission"] = allow
    connection = await agent.open()
    await connection.prompt(SESSION, text("batch"))
    answers = json.loads(agent.said()[-1])
    assert {answer["id"] for answer in answers} == {"one", "two", None}
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32600]
    assert "in a batch" in [getattr(entry, "text", "") for entry in agent.session.entries]


@pytest.mark.parametrize(("turn", "kind"), [("work", ToolCall), ("command", Terminal)])
async def test_work_can_be_cancelled_without_the_turn(
    client: MakeClient, turn: str, kind: type[ToolCall | Terminal]
) -> None:
    agent = of_version_2(client)
    connection = await agent.open()
    running = asyncio.create_task(connection.prompt(SESSION, text(turn)))
    await until(lambda: any(isinstance(entry, kind) and entry.can_cancel for entry in agent.session.entries))
    if kind is ToolCall:
        await connection.cancel_tool_call(SESSION, "c")
    else:
        await connection.cancel_terminal(SESSION, "t")
    assert await running == "end_turn"
    [entry] = [entry for entry in agent.session.entries if isinstance(entry, kind)]
    assert entry.ended_at is not None
    assert violations(agent.records, "sent") == []


async def test_a_session_is_loaded_by_resuming_it_with_its_history(client: MakeClient) -> None:
    agent = of_version_2(client)
    connection = await agent.initialize()
    await connection.load_session(SESSION, SessionSetup(str(agent.cwd)))
    assert agent.frames("sent")[-1]["method"] == "session/resume"
    texts = [entry.text for entry in agent.session.entries if isinstance(entry, UserMessage | AgentMessage)]
    assert texts == ["earlier", "answer"]
    assert agent.session.phase == "idle"


async def test_a_mode_is_an_option(client: MakeClient) -> None:
    agent = of_version_2(client)
    connection = await agent.open()
    assert [mode.id for mode in agent.session.modes] == ["ask", "code"]
    await connection.set_config_option(SESSION, "mode", "code")
    assert agent.session.mode == "code"


async def test_every_message_follows_the_schema(client: MakeClient) -> None:
    agent = of_version_2(client)
    agent.handlers["session/request_permission"] = allow
    connection = await agent.initialize()
    servers = [
        {"name": "files", "command": "/bin/files", "args": [], "env": []},
        {"type": "http", "name": "web", "url": "https://example.org/mcp", "headers": []},
    ]
    await connection.new_session(SessionSetup(str(agent.cwd), servers=servers))
    for words in ("hello", "ask", "batch"):
        await connection.prompt(
            SESSION, [*text(words), {"type": "resource_link", "uri": "file:///a", "name": "a"}]
        )
    await connection.set_config_option(SESSION, "mode", "code")
    await connection.list_sessions()
    await connection.resume_session(SESSION, SessionSetup(str(agent.cwd)))
    await connection.load_session(SESSION, SessionSetup(str(agent.cwd)))
    await connection.fork_session(SESSION, SessionSetup(str(agent.cwd)))
    await connection.close_session(SESSION)
    await connection.delete_session(SESSION)
    await connection.authenticate("login")
    await connection.logout()
    assert violations(agent.records, "sent") == []


async def test_no_transport_is_used_that_the_agent_does_not_name(client: MakeClient) -> None:
    connection = await of_version_2(client).initialize()
    server = {"type": "sse", "name": "old", "url": "https://example.org", "headers": []}
    with pytest.raises(NotSupported, match="MCP servers over sse"):
        await connection.new_session(SessionSetup("/", servers=[server]))
