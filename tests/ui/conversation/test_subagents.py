"""Subagents in a conversation: their entries, their transcripts, and stopping them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Subagent
from acp_tui.ui.screens.session.subagent_screen import SubagentScreen
from tests.fake_agents.has_subagents import FIRST

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
        assert "✔ allowed: make (subagent: Look around)" in ui.text()
        assert any(line.startswith("┊") and "A word after the turn." in line for line in ui.lines())
        first = next(entry for entry in ui.session.entries if isinstance(entry, Subagent))
        ui.transcript.focus()
        ui.transcript.cursor = first.id
        await ui.press("enter")
        await ui.sees("Subagent: Look around", "I am looking.", "❯ make", "✔ allowed: make")
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
        await ui.until(lambda: any("cannot be stopped by itself" in toast for toast in ui.toasts()))
