"""Subagents of a recording, and their transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller.player import INSTANT, Player
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.replay import ReplayScreen
from acp_tui.ui.conversation.subagent_screen import SubagentScreen
from tests.support.looks import two_looks
from tests.support.recordings import WIRELOGS, records
from tests.support.waiting import until

if TYPE_CHECKING:
    from textual.pilot import Pilot

RECORDING = next(path for path in WIRELOGS if path.stem == "claude-code-subagents")


@two_looks
@pytest.mark.parametrize("opened", [False, True], ids=["entry", "transcript"])
def test_a_subagent(opened: bool, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    player = Player(records(RECORDING), title="Recorded session", speed=INSTANT)
    app = AcpTui(lambda: ReplayScreen(player), theme=theme)

    async def act(pilot: Pilot[Any]) -> None:
        await until(lambda: player.ended)
        await pilot.pause()
        assert isinstance(app.screen, ReplayScreen)
        app.screen.frames.flush()
        await pilot.press("left_curly_bracket")
        if opened:
            await pilot.press("enter")
            await until(lambda: isinstance(app.screen, SubagentScreen))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=act)
