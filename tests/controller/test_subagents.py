"""Subagents of a scripted agent, without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.connection.errors import NotSupported
from acp_tui.session.state import AgentMessage, Subagent
from tests.controller.test_conversation import assert_same
from tests.fake_agents.has_subagents import FIRST, SECOND
from tests.support.scripted_conversation import ScriptedUser
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.controller.conftest import Converse


def texts(subagent: Subagent) -> str:
    return "".join(entry.text for entry in subagent.session.entries if isinstance(entry, AgentMessage))


async def test_a_subagent_asks_outlives_the_turn_and_is_stopped_separately(converse: Converse) -> None:
    user = ScriptedUser("allow_once")
    chat = converse("has_subagents", question_handler=user, policy="ask")
    await chat.open()
    await chat.conversation.prompt([{"type": "text", "text": "go"}])
    assert user.asked[0].subagent == "Look around"
    assert '"optionId": "yes"' in chat.said()
    assert "-32002" in chat.said()  # its request to read a file was served
    first, second = chat.session.subagents[FIRST], chat.session.subagents[SECOND]
    await until(lambda: "Still looking." in texts(first) and "after the turn" in chat.said())
    assert (chat.session.phase, first.is_running, second.is_running) == ("idle", True, True)
    assert chat.session.entries[-1].stray
    with pytest.raises(NotSupported, match="Write tests cannot be stopped separately"):
        await chat.conversation.subagents.stop(SECOND)
    await chat.conversation.subagents.stop(FIRST)
    await until(lambda: first.stop_reason == "cancelled")
    assert not chat.session.cancelling
    await chat.conversation.close()
    assert (first.state, second.state) == ("idle", "ended")
    assert_same(chat.session, chat.replayed())
    sent = [record.frame for record in chat.records if record.direction == "sent"]
    assert [frame["params"] for frame in sent if frame.get("method") == "session/cancel"] == [
        {"sessionId": FIRST}
    ]
    assert sent[0]["params"]["clientCapabilities"]["subagents"] == {}


async def test_a_question_about_a_file_names_the_subagent_that_wants_it(converse: Converse) -> None:
    user = ScriptedUser("reject_once")
    chat = converse(question_handler=user, policy="ask")
    await chat.open()
    announced = {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Look around"}
    await chat.prompt(
        ["update", announced], ["ask", "fs/read_text_file", {"sessionId": "child", "path": "/etc/hosts"}]
    )
    assert [(asked.kind, asked.subagent) for asked in user.asked] == [("read", "Look around")]
