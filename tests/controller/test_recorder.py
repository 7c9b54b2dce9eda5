"""What the recorder keeps besides the log, and how it continues the log of a killed acp-tui."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.controller.recorder import INTERRUPTED, Recorder
from acp_tui.session.events import AgentStarted, Queued
from acp_tui.session.state import ToolCall, TurnEnd
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
