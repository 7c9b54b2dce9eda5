"""The 0.1.0 draft dialect: prompts are plain strings, and a notification ends the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.connection.errors import AgentGone, RequestFailed
from tests.support.connection import SESSION, text

if TYPE_CHECKING:
    from tests.connection.conftest import MakeClient


@pytest.mark.parametrize("how", ["answers", "refuses"])
async def test_an_agent_of_the_draft_dialect_is_initialized_again(client: MakeClient, how: str) -> None:
    agent = client("draft", how)
    await agent.open()
    assert agent.session.dialect == "0.1.0"
    asked = [frame["params"] for frame in agent.frames("sent") if frame["method"] == "initialize"]
    assert [params["protocolVersion"] for params in asked] == [1, "0.1.0"]
    assert agent.session.agent is not None
    assert agent.session.agent.name == "draft-agent"


async def test_a_notification_ends_a_draft_turn(client: MakeClient) -> None:
    agent = client("draft", "answers")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("hello")) == "end_turn"
    assert agent.frames("sent")[-1]["params"] == {"sessionId": SESSION, "prompt": "hello"}
    assert agent.said() == ["you said hello"]
    assert await connection.prompt(SESSION, text("at once")) == "cancelled"


async def test_a_rejected_draft_prompt_is_an_error(client: MakeClient) -> None:
    connection = await client("draft", "answers").open()
    with pytest.raises(RequestFailed, match="answered session/prompt with an error: not now"):
        await connection.prompt(SESSION, text("no"))


async def test_the_agents_exit_ends_a_draft_turn(client: MakeClient) -> None:
    connection = await client("draft", "answers").open()
    with pytest.raises(AgentGone, match="exited with code 9"):
        await connection.prompt(SESSION, text("die"))


async def test_an_agent_that_rejects_both_versions_is_an_error(client: MakeClient) -> None:
    with pytest.raises(RequestFailed, match="Unsupported protocol version"):
        await client("draft", "refuses everything").initialize()
