"""Pictures of the panes: over the conversation where there is no room beside it, in the full size, in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.widgets.key_bar import KeyBar
from tests.support.looks import every_look, every_size, look
from tests.ui.panes.stage import stage

if TYPE_CHECKING:
    from textual.pilot import Pilot

TABS = {"plan": "1", "files": "2", "terminals": "3", "session": "4"}


async def open_at(pilot: Pilot[Any], *keys: str) -> None:
    """Open them, give them the focus, and press keys there."""
    pilot.app.screen.query_one(KeyBar).display = False  # it tells other keys, too
    for key in ("f8", *keys):
        await pilot.pause()
        await pilot.press(key)
    await pilot.pause()
    await pilot.pause()


@every_look
@every_size
@pytest.mark.parametrize("tab", TABS)
def test_each_pane(tab: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_at(pilot, TABS[tab])

    assert snap_compare(stage(theme), terminal_size=size, run_before=act)


@look
def test_files_on_the_full_screen(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_at(pilot, "2", "z")

    assert snap_compare(stage(theme), terminal_size=size, run_before=act)


@every_look
@every_size
def test_the_output_of_a_terminal(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_at(pilot, "3", "down", "enter")

    assert snap_compare(stage(theme), terminal_size=size, run_before=act)
