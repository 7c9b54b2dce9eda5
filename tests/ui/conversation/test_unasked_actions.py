"""The warning about agents that act without asking."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.session.events import Decided
from acp_tui.ui.conversation.status_tracker import StatusTracker
from tests.support.talk import Talk


class Watched(Talk):
    """A recorded conversation whose status is updated after each record."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = StatusTracker("Agent")
        self.warned: list[bool] = []

    def record(self, *args: Any) -> Any:
        changes = super().record(*args)
        self.warned.append(self.facts.facts(self.session, 0.0, asking=False).acts_without_asking)
        return changes


def working() -> Watched:
    talk = Watched()
    talk.opened()
    talk.prompt("go on")
    return talk


@pytest.mark.parametrize("kind", ["edit", "delete", "move", "execute"])
def test_an_action_without_a_question_is_flagged(kind: str) -> None:
    talk = working()
    talk.update("tool_call", toolCallId="c", title="Go", kind=kind, status="pending")
    talk.update("tool_call_update", toolCallId="c", status="in_progress")
    assert True not in talk.warned
    talk.update("tool_call_update", toolCallId="c", status="completed")
    assert talk.warned[-1]


@pytest.mark.parametrize(("kind", "status"), [("read", "completed"), ("edit", "failed")])
def test_reading_and_failed_actions_are_not_flagged(kind: str, status: str) -> None:
    talk = working()
    talk.update("tool_call", toolCallId="c", title="Go", kind=kind, status="pending")
    talk.update("tool_call_update", toolCallId="c", status=status)
    assert True not in talk.warned


@pytest.mark.parametrize("before", ["pending", "in_progress"])
def test_a_question_may_follow_the_announcement_of_its_call(before: str) -> None:
    talk = working()
    talk.update("tool_call", toolCallId="c", title="Go", kind="edit", status=before)
    talk.asks_permission(toolCall={"toolCallId": "c"})
    talk.update("tool_call_update", toolCallId="c", status="completed")
    assert True not in talk.warned


def test_actions_through_acp_tui_are_not_flagged() -> None:
    talk = working()
    talk.client(Decided(request_id=9, by="you", why="you answered", allowed=True, subject="Write a.py"))
    talk.update("tool_call", toolCallId="c", title="Write", kind="edit", status="completed")
    assert True not in talk.warned


def test_actions_in_a_loaded_history_are_not_flagged() -> None:
    talk = Watched()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    load = talk.call("session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []})
    talk.update("user_message_chunk", content={"type": "text", "text": "do it"})
    talk.update("tool_call", toolCallId="c", title="Go", kind="edit", status="completed")
    talk.answer(load, {})
    assert True not in talk.warned
    talk.prompt("once more")
    talk.update("tool_call", toolCallId="d", title="Go", kind="edit", status="completed")
    assert talk.warned[-1]
