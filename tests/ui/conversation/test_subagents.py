"""Subagents in a conversation: their entries, their transcripts, and stopping them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Subagent
from acp_tui.ui.conversation.status_tracker import BACKGROUND_SECONDS, StatusTracker
from acp_tui.ui.conversation.subagent_screen import SubagentScreen
from acp_tui.ui.panes.files import TouchedFiles
from tests.fake_agents.has_subagents import FIRST
from tests.support.talk import Talk

if TYPE_CHECKING:
    from tests.support.conversation_ui import Open


async def test_the_transcript_of_a_subagent_is_live_and_stops_it(open_ui: Open) -> None:
    async with open_ui("has_subagents") as ui:
        await ui.send("go")
        await ui.asked()
        assert "(subagent: Look around) asks to run a command" in ui.text()
        await ui.press("a")
        await ui.sees("◈ Look around", "◈ Write tests", "A word after the turn.", "Still looking.")
        assert "working in the background" in ui.status()
        assert "✔ allowed: run `make` (subagent: Look around)" in ui.text()
        assert any(line.startswith("┊") and "A word after the turn." in line for line in ui.lines())
        first = next(entry for entry in ui.session.entries if isinstance(entry, Subagent))
        ui.transcript.focus()
        ui.transcript.cursor = first.id
        await ui.press("enter")
        await ui.sees("Subagent: Look around", "I am looking.", "❯ make", "✔ allowed: run `make`")
        await ui.until(lambda: isinstance(ui.app.screen, SubagentScreen))
        await ui.sees("stop subagent")
        await ui.press("ctrl+x")
        await ui.sees("⊘ stopped")
        assert "stop subagent" not in ui.text()
        await ui.press("escape")
        await ui.until(lambda: ui.app.screen is ui.screen)
        assert ui.session.subagents[FIRST].stop_reason == "cancelled"
        await ui.sees("◈ Look around", "stopped")
        ui.transcript.cursor = first.id + 1
        await ui.press("x")
        await ui.until(lambda: any("cannot be stopped separately" in toast for toast in ui.toasts()))


def working_subagent() -> Talk:
    """Return a turn that has ended while its subagent works on."""
    talk = Talk().opened()
    prompt = talk.prompt()
    talk.update("subagent_update", sessionId="c1", title="Look around", state={"state": "running"})
    talk.end(prompt)
    return talk


def test_the_status_tells_work_in_the_background_until_it_ends() -> None:
    talk, tracker = working_subagent(), StatusTracker("agent")

    def phase(seconds: float = 0.0) -> str:
        return tracker.facts(talk.session, talk.now + seconds, asking=False).phase

    assert phase(1000) == "background"
    talk.update("subagent_update", sessionId="c1", state={"state": "idle"})
    assert phase() == "idle"
    talk.update("usage_update", used=1, size=2)
    talk.update("session_info_update", title="A title")
    assert phase() == "idle"
    talk.says("By the way")
    assert (phase(), phase(BACKGROUND_SECONDS)) == ("background", "idle")


def test_what_a_subagent_does_to_files_counts() -> None:
    talk, tracker = working_subagent(), StatusTracker("agent")
    diff = {"type": "diff", "path": "/w/a.py", "oldText": "a", "newText": "b"}
    talk.tool("t1", session_id="c1", kind="edit", status="completed", content=[diff])
    assert list(TouchedFiles(talk.session, "/w").files) == ["/w/a.py"]
    assert tracker.facts(talk.session, talk.now, asking=False).acts_without_asking
