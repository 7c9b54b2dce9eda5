"""Turns, the queue, and exits of the agent."""

from __future__ import annotations

import pytest

from acp_tui.session.events import AgentExited, AgentStarted, Queued, QueuePaused, Unqueued
from acp_tui.session.state import (
    AgentMessage,
    Elicitation,
    Notice,
    Permission,
    TurnEnd,
    UserMessage,
)
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """An open session."""
    return Talk().opened()


def test_a_turn_lasts_from_the_prompt_to_its_answer(talk: Talk) -> None:
    assert talk.session.phase == "idle"
    prompt = talk.prompt("do it")
    assert (talk.session.phase, talk.session.turn, talk.session.turn_started) == ("prompting", 1, talk.now)
    talk.says("done")
    talk.end(prompt)
    assert (talk.session.phase, talk.session.stop_reason) == ("idle", "end_turn")
    assert talk.kinds() == ["UserMessage", "AgentMessage", "TurnEnd"]
    assert {entry.turn for entry in talk.session.entries} == {1}


def test_the_last_event_of_the_agent_is_remembered(talk: Talk) -> None:
    talk.prompt()
    talk.thinks("hm")
    assert talk.session.heard_at == talk.now
    assert talk.session.heard == "message text"
    talk.tool("t")
    assert (talk.session.heard_at, talk.session.heard) == (talk.now, "a tool call")


def test_usage_is_read_from_updates_and_the_answer(talk: Talk) -> None:
    prompt = talk.prompt()
    talk.update("usage_update", used=10, size=100, cost={"amount": 0.5, "currency": "USD"})
    talk.update("usage_update", used=None, size=200)
    talk.end(prompt, usage={"inputTokens": 7, "outputTokens": 1, "thoughtTokens": None})
    usage = talk.session.usage
    assert (usage.used, usage.size, usage.tokens) == (10, 200, {"inputTokens": 7, "outputTokens": 1})
    assert usage.cost is not None
    assert (usage.cost.amount, usage.cost.currency) == (0.5, "USD")


def test_a_turn_without_updates_is_empty(talk: Talk) -> None:
    talk.end(talk.prompt())
    assert talk.only(TurnEnd).empty


def test_a_turn_with_only_a_title_is_empty(talk: Talk) -> None:
    prompt = talk.prompt()
    talk.update("session_info_update", title="A title", updatedAt="2026-11-20T09:00:00Z")
    talk.end(prompt)
    assert talk.only(TurnEnd).empty
    assert (talk.session.title, talk.session.updated_at) == ("A title", "2026-11-20T09:00:00Z")


def test_a_turn_with_tokens_or_text_is_not_empty(talk: Talk) -> None:
    talk.end(talk.prompt(), usage={"inputTokens": 7})
    words = talk.prompt()
    talk.says("x")
    talk.end(words)
    cancelled = talk.prompt()
    talk.cancel()
    talk.end(cancelled, "cancelled")
    assert [end.empty for end in talk.all(TurnEnd)] == [False, False, False]


def test_tokens_of_an_earlier_turn_do_not_count(talk: Talk) -> None:
    talk.end(talk.prompt(), usage={"inputTokens": 7})
    talk.end(talk.prompt())
    assert [end.empty for end in talk.all(TurnEnd)] == [False, True]


def test_a_turn_that_ends_with_open_calls_and_no_answer_says_so(talk: Talk) -> None:
    calls = talk.prompt()
    talk.says("I will read both.")
    talk.tool("a", status="pending")
    talk.tool("b", status="in_progress")
    talk.end(calls)
    answered = talk.prompt()
    talk.tool("c", status="in_progress")
    talk.says("Done.")
    talk.end(answered)
    finished = talk.prompt()
    talk.tool("d", status="completed")
    talk.end(finished)
    assert [end.unfinished for end in talk.all(TurnEnd)] == [2, 0, 0]


def test_a_refusal_withdraws_the_entries_of_the_turn(talk: Talk) -> None:
    first = talk.prompt("fine")
    talk.says("yes")
    talk.end(first)
    second = talk.prompt("bad")
    talk.says("no")
    talk.end(second, "refusal")
    assert [(type(entry).__name__, entry.withdrawn) for entry in talk.session.entries] == [
        ("UserMessage", False),
        ("AgentMessage", False),
        ("TurnEnd", False),
        ("UserMessage", True),
        ("AgentMessage", True),
        ("TurnEnd", True),
    ]


@pytest.mark.parametrize("outcome", ["injected", "promptRequired", "failed", None])
def test_a_message_sent_into_a_turn_is_shown_once_the_agent_takes_it(talk: Talk, outcome: str | None) -> None:
    prompt = talk.prompt("one")
    message = {"prompt": [{"type": "text", "text": "two"}]}
    talk.ask("_session/steering", message, {"outcome": outcome})
    if outcome == "injected":
        talk.echoes("two")
    talk.end(prompt)
    shown = [(entry.text, entry.turn, entry.steering) for entry in talk.all(UserMessage)]
    assert shown == [("one", 1, False), ("two", 1, True)][: 2 if outcome == "injected" else 1]
    assert [entry.text for entry in talk.session.prompts] == ["one"]


def test_a_cancelled_turn_lasts_until_its_answer(talk: Talk) -> None:
    prompt = talk.prompt()
    talk.cancel()
    assert (talk.session.phase, talk.session.cancelling) == ("prompting", True)
    talk.says("late")
    talk.end(prompt, "cancelled")
    assert (talk.session.phase, talk.session.cancelling) == ("idle", False)
    assert talk.only(AgentMessage).stray


def test_the_error_of_a_cancelled_request_ends_a_cancelled_turn(talk: Talk) -> None:
    prompt = talk.prompt()
    talk.cancel()
    talk.fail(prompt, {"code": -32800, "message": "Request cancelled"})
    assert (talk.only(TurnEnd).stop_reason, talk.only(TurnEnd).error) == ("cancelled", None)


def test_an_error_ends_the_turn(talk: Talk) -> None:
    talk.fail(talk.prompt(), {"code": -32603, "message": "Internal error", "data": {"details": "no credit"}})
    end = talk.only(TurnEnd)
    assert end.stop_reason is None
    assert end.error is not None
    assert end.error.message == "no credit"
    assert talk.session.last_error == end.error
    assert (talk.session.phase, talk.session.stop_reason) == ("idle", None)


def test_any_request_may_require_signing_in(talk: Talk) -> None:
    methods = [{"id": "m", "name": "Web"}]
    talk.fail(
        talk.prompt(),
        {"code": -32000, "message": "Authentication required", "data": {"authMethods": methods}},
    )
    assert talk.session.auth_required
    assert talk.session.agent is not None
    assert [method.id for method in talk.session.agent.auth_methods] == ["m"]


def test_an_answer_without_a_stop_reason_ends_the_turn_with_a_fault(talk: Talk) -> None:
    talk.answer(talk.prompt(), {"success": True})
    assert talk.only(TurnEnd).stop_reason == "end_turn"
    assert "stopReason" in talk.only(Notice).text


def test_two_prompts_at_once_end_with_the_second_answer(talk: Talk) -> None:
    first, second = talk.prompt("one"), talk.prompt("two")
    phases = []
    for prompt in (first, second):
        talk.end(prompt)
        phases.append(talk.session.phase)
    assert phases == ["prompting", "idle"]


# --------------------------------------------------------------------------- the queue


def test_queued_prompts_keep_their_order_and_can_be_edited(talk: Talk) -> None:
    talk.client(Queued("a", "first"))
    talk.client(Queued("b", "second"))
    talk.client(Queued("c", "urgent", first=True))
    talk.client(Queued("a", "first, edited", blocks=[{"type": "text", "text": "first, edited"}]))
    assert [prompt.text for prompt in talk.session.queue] == ["urgent", "first, edited", "second"]
    talk.client(Unqueued("c"))
    assert [prompt.id for prompt in talk.session.queue] == ["a", "b"]


@pytest.mark.parametrize(
    ("reason", "paused"), [("end_turn", False), ("cancelled", True), ("max_tokens", True)]
)
def test_the_queue_is_paused_unless_the_turn_was_completed(talk: Talk, reason: str, *, paused: bool) -> None:
    prompt = talk.prompt()
    talk.client(Queued("a", "next"))
    talk.end(prompt, reason)
    assert talk.session.queue_paused is paused


def test_the_queue_can_be_resumed(talk: Talk) -> None:
    prompt = talk.prompt()
    talk.client(Queued("a", "next"))
    talk.fail(prompt, "broken")
    talk.client(QueuePaused(paused=False))
    assert not talk.session.queue_paused


# --------------------------------------------------------------------------- the end of the agent


def test_the_exit_of_the_agent_ends_everything(talk: Talk) -> None:
    talk.client(AgentStarted(["agent"], "/w", 7))
    talk.opened()
    talk.prompt()
    talk.tool("t", status="in_progress", _meta={"terminal_info": {"terminal_id": "x"}})
    talk.asks_permission(toolCall={"toolCallId": "t"})
    talk.received({"id": "e1", "method": "elicitation/create", "params": {"mode": "form", "message": "?"}})
    talk.client(AgentExited(exit_code=3, stderr_tail=["Traceback", "boom\x1b[2J"]))
    session = talk.session
    assert session.phase == "dead"
    assert session.tool_calls["t"].status == "unfinished"
    assert session.terminals["x"].ended_at is not None
    assert (talk.only(Permission).outcome, talk.only(Elicitation).outcome) == ("cancelled", "cancel")
    assert (session.permissions, session.elicitations) == ({}, {})
    end = talk.only(TurnEnd)
    assert end.error is not None
    assert end.error.message == "The agent exited with code 3"
    assert end.error.detail == "Traceback\nboom␛[2J"
    assert talk.all(Notice) == []  # it is not said twice


def test_an_exit_between_turns_gets_a_notice(talk: Talk) -> None:
    talk.client(AgentStarted(["agent"], "/w", 7))
    talk.opened()
    talk.client(AgentExited(exit_code=3, stderr_tail=["Traceback", "boom\x1b[2J"]))
    notice = talk.only(Notice)
    assert (notice.level, notice.text, notice.detail) == (
        "error",
        "The agent exited with code 3",
        "Traceback\nboom␛[2J",
    )


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (AgentExited(exit_code=0), "The agent exited with code 0"),
        (AgentExited(signal="SIGKILL"), "The agent was killed by signal SIGKILL"),
        (AgentExited(), "The agent could not be started"),
        (AgentExited(reason="No such program: foo"), "No such program: foo"),
    ],
)
def test_an_exit_is_described_in_one_sentence(talk: Talk, event: AgentExited, sentence: str) -> None:
    talk.client(event)
    assert talk.only(Notice).text == sentence


def test_an_expected_exit_gets_no_notice(talk: Talk) -> None:
    talk.client(AgentExited(exit_code=0, expected=True))
    assert talk.session.phase == "dead"
    assert talk.session.entries == []


def test_a_restart_ends_a_turn_that_was_cut_off_in_the_log(talk: Talk) -> None:
    talk.client(AgentStarted(["agent"], "/w"))
    talk.opened()
    talk.prompt("lost?")
    talk.tool("t", status="in_progress")
    talk.client(AgentStarted(["agent"], "/w"))
    assert talk.session.phase == "connecting"
    assert talk.only(TurnEnd).stop_reason is None
    assert talk.session.tool_calls["t"].status == "unfinished"
    assert talk.only(UserMessage).text == "lost?"


def test_the_new_process_cannot_answer_old_requests(talk: Talk) -> None:
    prompt = talk.prompt()
    talk.client(AgentExited(exit_code=1))
    talk.client(AgentStarted(["agent"], "/w"))
    talk.end(prompt)
    assert len(talk.all(TurnEnd)) == 1
    assert "was not sent" in talk.all(Notice)[-1].text
