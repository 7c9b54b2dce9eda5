"""What the session and each turn used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_tui.controller.conversation import ContextWarning
from acp_tui.protocol.translator import fold
from acp_tui.session.events import Event, Noticed
from acp_tui.session.state import Cost, Notice
from acp_tui.session.usage_text import context_share, quota_words
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """A session in which no prompt was sent."""
    return Talk().opened()


def spends(talk: Talk, amount: float, used: int = 10) -> None:
    """Report the cost of the session so far."""
    talk.update("usage_update", used=used, size=100, cost={"amount": amount, "currency": "USD"})


def test_each_turn_has_its_tokens_cost_and_context(talk: Talk) -> None:
    first = talk.prompt()
    spends(talk, 0.25, used=20)
    talk.end(first, usage={"inputTokens": 7, "outputTokens": 1})
    second = talk.prompt()
    talk.end(second, usage={"inputTokens": 9})
    spends(talk, 1.0, used=30)  # some agents report it after the turn
    turns = talk.session.turn_usages
    assert [(one.turn, one.tokens.get("inputTokens"), one.used) for one in turns] == [(1, 7, 20), (2, 9, 30)]
    assert [one.cost.amount if one.cost else None for one in turns] == [0.25, 0.75]


def test_a_restarted_agent_may_count_its_cost_from_zero(talk: Talk) -> None:
    talk.prompt()
    spends(talk, 2.0)
    talk.prompt()
    spends(talk, 0.5)
    spends(talk, 0.75)
    cost = talk.session.turn_usages[-1].cost
    assert cost is not None
    assert cost.amount == 0.75


def test_the_first_turn_of_a_resumed_session_has_no_known_cost() -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w", "mcpServers": []}, {})
    talk.prompt()
    spends(talk, 2.0)
    talk.prompt()
    spends(talk, 2.5)
    assert [one.cost.amount if one.cost else None for one in talk.session.turn_usages] == [None, 0.5]


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("claude-code-compact", 1200),
        ("codex-compact", 1200),
        ("gemini-sessions-load", 1200),  # only in `_meta.quota`
        ("qwen-always", 2400),  # in `_meta` of chunks, one for each request to the model
    ],
)
def test_tokens_are_read_wherever_an_agent_reports_them(name: str, tokens: int) -> None:
    session = fold(records(next(path for path in WIRELOGS if path.stem == name)))
    assert session.turn_usages[-1].tokens["inputTokens"] == tokens


def test_tokens_are_known_for_each_model(talk: Talk) -> None:
    counts = {"inputTokens": 3, "reasoningOutputTokens": 2, "odd": "x"}
    quota = {"model_usage": [{"model": "big", "token_count": counts}, {"model": 4}, "junk"]}
    talk.end(talk.prompt(), _meta={"quota": quota})
    assert talk.session.turn_usages[0].models == {"big": {"inputTokens": 3, "thoughtTokens": 2}}


def quota(talk: Talk, **fields: Any) -> None:
    """Report a limit as Claude Code does."""
    meta = {"_claude/rateLimit": {"rateLimitType": "five_hour", **fields}}
    talk.update("usage_update", used=1, size=10, _meta=meta)


def test_a_limit_of_the_plan_is_reported_once_when_it_is_nearly_used_up(talk: Talk) -> None:
    quota(talk, status="allowed", utilization=0.5, resetsAt=7300)
    assert talk.all(Notice) == []
    quota(talk, status="allowed_warning", utilization=0.91, resetsAt=7300)
    quota(talk, status="allowed_warning", utilization=0.93, resetsAt=7300)
    (notice,) = talk.all(Notice)
    assert (notice.level, notice.text) == ("warning", "5-hour limit: 91% used, resets in 2 h 2 min")
    (known,) = talk.session.quotas.values()
    assert quota_words(known, 7000) == "5-hour limit: 93% used, resets in 5 min"
    quota(talk, status="rejected")
    assert [notice.text for notice in talk.all(Notice)][1:] == ["5-hour limit: used up"]


async def test_the_user_is_warned_once_each_time_the_context_is_nearly_full(talk: Talk) -> None:
    noted: list[Event] = []
    warning = ContextWarning(talk.session, 85, noted.append)
    talk.update("available_commands_update", availableCommands=[{"name": "compact", "description": ""}])
    for used in (84, 86, 84, 90, 10, 85):
        spends(talk, 0.0, used=used)
        warning.see(talk.changes)
        await asyncio.sleep(0)
    sentence = "The context window is 86% full. Send /compact to have the agent summarise the conversation."
    assert noted[0] == Noticed("warning", sentence)
    assert len(noted) == 2


@pytest.mark.parametrize("number", [10**400, -1, float("inf"), float("nan"), 1e300, "x", None])
def test_absurd_numbers_of_an_agent_are_harmless(talk: Talk, number: Any) -> None:
    talk.prompt()
    quota(talk, status="rejected", utilization=number, resetsAt=number)
    cost = {"amount": number, "currency": "USD"}
    talk.update("usage_update", used=number, size=number or 1, cost=cost)
    talk.says("x", _meta={"usage": {"inputTokens": number, **dict.fromkeys(map(str, range(999)), 1)}})
    session = talk.session
    assert len(session.turn_usages[0].tokens) <= 20
    (known,) = session.quotas.values()
    assert quota_words(known, 0.0).startswith("5-hour limit: used up")
    share = context_share(session.usage.used, session.usage.size)
    assert share is None or f"{share:.0%}"


def test_a_turn_keeps_a_limited_number_of_token_counts(talk: Talk) -> None:
    talk.prompt()
    for number in range(50):
        talk.says("x", _meta={"usage": {"inputTokens": 1, f"kind {number}": 1}})
    tokens = talk.session.turn_usages[0].tokens
    assert (len(tokens), tokens["inputTokens"]) == (20, 50)


def openhands(talk: Talk, text: str, tokens: int, cost: float) -> None:
    metrics = {"input_tokens": tokens, "output_tokens": 10, "cost": cost, "status_line": "x"}
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    meta = {"field_meta": {"openhands.dev/metrics": metrics}}
    talk.received(
        {"method": "session/update", "params": {"sessionId": "s1", "update": update, "_meta": meta}}
    )


def test_the_metrics_of_openhands_are_the_usage() -> None:
    """They count from the beginning of the session."""
    talk = Talk().opened()
    for tokens, cost in ((0, 0.0), (1200, 0.25), (3600, 1.0)):
        prompt = talk.prompt()
        openhands(talk, "x", tokens, cost)
        talk.end(prompt)
    _, first, second = talk.session.turn_usages
    assert (first.tokens["inputTokens"], second.tokens["inputTokens"]) == (1200, 2400)
    assert second.cost == Cost(0.75, "USD")
    assert talk.session.usage.cost == Cost(1.0, "USD")


def test_why_an_agent_repeats_a_request_is_known_until_it_sends_something_else() -> None:
    talk = Talk().opened()
    talk.prompt()
    talk.received({"method": "_session/retrying", "params": {"sessionId": "s1", "detail": "ConnectError"}})
    assert talk.session.retrying == "ConnectError"
    assert "Unrecognised" not in talk.kinds()
    talk.says("x")
    assert talk.session.retrying is None
