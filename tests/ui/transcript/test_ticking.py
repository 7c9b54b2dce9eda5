"""The durations of running entries are kept up to date."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.session.state import ToolCall
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    import pytest

    from tests.support.conversation_ui import Open

CALL = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Run it", "status": "in_progress"}
THOUGHT = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Well"}}


async def test_only_the_headline_of_a_running_call_is_redrawn(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = time.time()
    monkeypatch.setattr(SessionScreen, "now", lambda _: moment)
    async with open_ui() as one:
        await one.send(["say", "before"], ["update", CALL], ["wait_for_cancel"])
        await one.sees("before", "Run it")
        view = one.transcript
        assert view.ticking
        (call,) = (block for block in view.entry_layout.blocks if isinstance(block.entry, ToolCall))
        others = [block for block in view.entry_layout.blocks if block is not call]
        drawn = [dict(block.painted) for block in others]
        assert isinstance(call.entry, ToolCall)
        moment = call.entry.began + 75
        await one.sees("1:15")
        assert [dict(block.painted) for block in others] == drawn
        await one.press("escape")
        await one.until(lambda: not one.session.working)
        assert not view.ticking


async def test_a_running_thought_shows_its_time(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send(["update", THOUGHT], ["wait_for_cancel"])
        await one.sees("thinking for")


async def test_a_status_line_that_is_mounted_during_a_phase_counts_its_seconds(open_ui: Open) -> None:
    async with open_ui() as one:
        facts = replace(one.screen.query_one(StatusLine).facts, phase="working")
        line = StatusLine(facts)
        await one.screen.mount(line)
        assert line.ticking


async def test_clicking_the_phase_follows_the_end(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send(["say", "line\n\n" * 80])
        await one.ready()
        await one.press("pageup", "pageup")
        assert not one.transcript.following
        one.screen.query_one(StatusLine).post_message(StatusLine.PhaseClicked())
        await one.until(lambda: one.transcript.following)
