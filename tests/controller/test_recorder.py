"""What the recorder keeps besides the log, and how it continues the log of a killed acp-tui."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.controller.recorder import INTERRUPTED, Recorder
from acp_tui.session.events import AgentStarted, Queued
from acp_tui.session.state import Permission, ToolCall, TurnEnd
from acp_tui.store.session_folder import NullFolder
from tests.support.talk import Talk

if TYPE_CHECKING:
    from acp_tui.session.state import Session


def killed(*, in_turn: bool) -> Session:
    """Return the session of a log that ends in the middle: the agent ran, and a prompt was queued."""
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w"))
    talk.opened()
    if in_turn:
        talk.prompt("Fix it")
        talk.tool("call", status="in_progress")
    talk.client(Queued("queued-1", "and then"))
    return Recorder(NullFolder(), talk.records).session


def test_a_turn_without_end_is_interrupted() -> None:
    session = killed(in_turn=True)
    assert session.phase == "dead"
    (end,) = [entry for entry in session.entries if isinstance(entry, TurnEnd)]
    assert end.error is not None
    assert end.error.message == INTERRUPTED
    (call,) = [entry for entry in session.entries if isinstance(entry, ToolCall)]
    assert call.status == "unfinished"
    assert session.queue_paused


def test_prompts_that_were_queued_before_the_first_turn_wait() -> None:
    session = killed(in_turn=False)
    assert session.entries == []
    assert [prompt.text for prompt in session.queue] == ["and then"]
    assert session.queue_paused


def test_requests_that_were_open_name_acp_tui_and_not_the_agent() -> None:
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w"))
    talk.opened()
    talk.prompt("Fix it")
    talk.update("subagent_update", sessionId="c1", title="Look around", state={"state": "running"})
    talk.asks_permission(toolCall={"toolCallId": "t"})
    talk.asks_permission("p2", sessionId="c1", toolCall={"toolCallId": "t1"})
    session = Recorder(NullFolder(), talk.records).session
    (subagent,) = session.subagents.values()
    asked = [
        entry for entry in (*session.entries, *subagent.session.entries) if isinstance(entry, Permission)
    ]
    assert {(entry.outcome, entry.by, entry.why) for entry in asked} == {
        ("cancelled", "acp-tui", "acp-tui ended before you answered")
    }
    assert {entry.request_id for entry in asked} == {"p1", "p2"}


def test_the_title_is_saved_whenever_it_changes() -> None:
    talk = Talk().opened()
    folder = NullFolder()
    recorder = Recorder(folder)
    for record in talk.records:
        recorder.observe(record)
    saved = []
    for title in ("Fix the login", "Fix the login", None):
        talk.update("session_info_update", title=title)
        recorder.observe(talk.records[-1])
        saved.append(folder.meta["title"])
    assert saved == ["Fix the login", "Fix the login", None]


def test_many_titles_in_one_second_are_not_all_saved() -> None:
    saved: list[str] = []

    class Folder(NullFolder):
        def update_meta(self, **fields: Any) -> None:
            saved.append(fields["title"])

    talk = Talk().opened()
    recorder = Recorder(Folder())
    for number in range(5):
        talk.update("session_info_update", title=f"title {number}")
    for record in talk.records:
        recorder.observe(replace(record, at=9.0))
    assert saved == ["title 0"]
    recorder.note(AgentStarted(["agent"], "/w"))
    assert saved == ["title 0", "title 4"]
