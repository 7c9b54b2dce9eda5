"""Messages to the agent that the user wrote: what they mean for the conversation, and how they are logged."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.connection.errors import AgentGone, RequestFailed
from acp_tui.controller.prompt_queue import PromptQueue
from acp_tui.session.state import HandMessage, UserMessage
from tests.controller.test_conversation import assert_same
from tests.fake_agents.scripted_agent import SESSION
from tests.support.scripted_conversation import ScriptedUser
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.controller.conftest import Converse
    from tests.support.scripted_conversation import ScriptedConversation

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
PERMISSION = [["permission", {"title": "Run it", "kind": "execute", "rawInput": {"command": "make"}}]]


async def opened(converse: Converse, **offers: Any) -> ScriptedConversation:
    chat = converse("script", json.dumps(offers))
    await chat.open()
    return chat


def prompt(*steps: Any, session: str = SESSION) -> dict[str, Any]:
    text = json.dumps(steps) if steps else "hello"
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def by_hand(chat: ScriptedConversation) -> list[HandMessage]:
    return [entry for entry in chat.session.entries if isinstance(entry, HandMessage)]


async def test_the_answer_is_returned_and_shown_with_the_message(converse: Converse) -> None:
    chat = await opened(converse, answers={"_x/y": {"a": 1}})
    assert await chat.conversation.send_by_hand("_x/y", {"b": [2]}) == {"a": 1}
    (entry,) = by_hand(chat)
    assert (entry.text, entry.status, entry.raw_result) == ("You sent _x/y", "answered", {"a": 1})
    assert entry.raw_params == {"b": [2]}
    assert_same(chat.session, chat.replayed())


async def test_the_log_marks_the_frame_as_the_users(converse: Converse) -> None:
    chat = await opened(converse, answers={"_x/y": None})
    await chat.conversation.send_by_hand("_x/y", {}, faults=["_x/y: odd"])
    frames = [(record.direction, record.frame) for record in chat.records]
    sent = next(
        number for number, (_, frame) in enumerate(frames) if frame.get("method") == "_x/y" and "id" in frame
    )
    request_id = frames[sent][1]["id"]
    mark = {"event": "written_by_hand", "method": "_x/y", "request_id": request_id, "faults": ["_x/y: odd"]}
    assert frames[sent - 1] == ("client", mark)


async def test_an_error_is_shown_with_the_message_only(converse: Converse) -> None:
    chat = await opened(converse)
    with pytest.raises(RequestFailed):
        await chat.conversation.send_by_hand("session/list", {})
    (entry,) = by_hand(chat)
    assert entry.status == "failed"
    assert entry.error is not None
    assert entry.error.code == -32601
    assert chat.notices() == ["You sent session/list"]


async def test_params_of_any_shape_are_sent_as_they_are(converse: Converse) -> None:
    chat = await opened(converse, answers={"_x/y": None})
    odd: list[Any] = [[1], None, "text", {}]
    for params in odd:
        await chat.conversation.send_by_hand("_x/y", params)
    sent = [record.frame for record in chat.records if record.direction == "sent"]
    assert [frame["params"] for frame in sent if frame["method"] == "_x/y"] == odd


async def test_a_notification_has_no_answer(converse: Converse) -> None:
    chat = await opened(converse, echoes=["_x/note"])
    assert await chat.conversation.send_by_hand("_x/note", {"n": 1}, is_request=False) is None
    await until(lambda: any("_x/note" in getattr(entry, "what", "") for entry in chat.session.entries))
    assert by_hand(chat)[0].text == "You sent the notification _x/note"


async def test_a_request_without_an_answer_can_be_cancelled(converse: Converse) -> None:
    chat = await opened(converse, silent=["_x/y"])
    sending = asyncio.create_task(chat.conversation.send_by_hand("_x/y", {}))
    await until(lambda: by_hand(chat))
    (entry,) = by_hand(chat)
    await chat.conversation.send_by_hand(
        "$/cancel_request", {"requestId": entry.request_id}, is_request=False
    )
    assert entry.status == "cancelled"
    with pytest.raises(RequestFailed):
        await sending
    assert (entry.status, entry.error is not None) == ("failed", True)


async def test_a_request_that_the_agent_leaves_unanswered_is_marked(converse: Converse) -> None:
    chat = await opened(converse, silent=["_x/y"])
    sending = asyncio.create_task(chat.conversation.send_by_hand("_x/y", {}))
    await until(lambda: by_hand(chat))
    await chat.conversation.reconnect()
    with pytest.raises(AgentGone):
        await sending
    assert by_hand(chat)[0].status == "unanswered"


# --------------------------------------------------------------------------- what it means for the session


async def test_a_prompt_is_a_turn_of_the_session(converse: Converse) -> None:
    chat = await opened(converse)
    answer = await chat.conversation.send_by_hand("session/prompt", prompt())
    assert answer == {"stopReason": "end_turn"}
    assert chat.said() == "hello"
    assert [type(entry).__name__ for entry in chat.session.entries] == [
        "HandMessage",
        "UserMessage",
        "AgentMessage",
        "TurnEnd",
    ]
    assert (chat.session.phase, chat.session.turn) == ("idle", 1)
    assert_same(chat.session, chat.replayed())


async def test_prompts_wait_until_a_prompt_by_hand_has_ended(converse: Converse, tmp_path: Path) -> None:
    chat = await opened(converse)
    queue = PromptQueue(chat.conversation, lambda error, text: None)
    queue.opened()
    file = tmp_path / "go on"
    message = prompt(["wait_for_file", str(file)])
    sending = asyncio.create_task(queue.run(chat.conversation.send_by_hand("session/prompt", message)))
    await until(lambda: chat.session.working)
    queue.submit("next")
    assert [waiting.text for waiting in chat.session.queue] == ["next"]
    file.touch()
    await sending
    await until(lambda: len(chat.session.prompts) == 2 and chat.session.phase == "idle")
    assert chat.session.queue == []


async def test_a_cancel_stops_the_turn_and_answers_its_requests(converse: Converse) -> None:
    chat = converse(question_handler=ScriptedUser(thinking=asyncio.Event()), policy="ask")
    await chat.open()
    turn = asyncio.create_task(chat.prompt([*PERMISSION[0]]))
    await until(lambda: chat.session.permissions)
    await chat.conversation.send_by_hand("session/cancel", {"sessionId": SESSION}, is_request=False)
    await turn
    assert not chat.session.permissions
    assert chat.conversation.was_stopped
    assert chat.session.phase == "idle"


async def test_messages_about_other_sessions_leave_the_conversation_alone(converse: Converse) -> None:
    chat = await opened(converse, session={"modes": MODES})
    before = (chat.session.session_id, chat.session.mode, chat.session.turn, chat.session.phase)
    send = chat.conversation.send_by_hand
    await send("session/set_mode", {"sessionId": "other", "modeId": "code"})
    await send(
        "session/prompt", prompt(["update", {"sessionUpdate": "current_mode_update"}, "x"], session="other")
    )
    await send("session/new", {"cwd": "/", "mcpServers": []})
    await send("session/load", {"sessionId": "other", "cwd": "/", "mcpServers": []})
    await send("initialize", {"protocolVersion": 1})
    await send("session/cancel", {"sessionId": "other"}, is_request=False)
    assert (chat.session.session_id, chat.session.mode, chat.session.turn, chat.session.phase) == before
    assert not chat.session.cancelling
    assert len(by_hand(chat)) == 6
    await chat.prompt(["say", "still here"])
    assert chat.said() == "still here"


async def test_the_mode_follows_a_message_about_this_session(converse: Converse) -> None:
    chat = await opened(converse, session={"modes": MODES})
    await chat.conversation.send_by_hand("session/set_mode", {"sessionId": SESSION, "modeId": "code"})
    assert chat.session.mode == "code"


async def test_a_reload_does_not_repeat_the_conversation(converse: Converse) -> None:
    history = [
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": '[["say", "one"]]'}},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "one"}},
    ]
    chat = await opened(converse, capabilities={"loadSession": True}, history=history)
    await chat.prompt(["say", "one"])
    params = {"sessionId": SESSION, "cwd": str(chat.conversation.cwd), "mcpServers": []}
    await chat.conversation.send_by_hand("session/load", params)
    assert chat.said() == "one"
    assert len([entry for entry in chat.session.entries if isinstance(entry, UserMessage)]) == 1
    assert chat.session.phase == "idle"
