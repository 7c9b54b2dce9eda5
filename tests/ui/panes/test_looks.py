"""Snapshots of the panes, beside the conversation, over it and zoomed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.widgets.bar import KeyBar
from tests.support.looks import SMALL, look, two_looks
from tests.ui.panes.sample_screen import sample_app

if TYPE_CHECKING:
    from textual.pilot import Pilot

TABS = {"plan": "1", "files": "2", "terminals": "3", "session": "4"}


async def open_panes(pilot: Pilot[Any], *keys: str) -> None:
    """Open the panes with the focus, and press keys."""
    pilot.app.screen.query_one(KeyBar).display = False  # it is tested elsewhere
    for key in ("f8", *keys):
        await pilot.pause()
        await pilot.press(key)
    await pilot.pause()
    await pilot.pause()


@look
@pytest.mark.parametrize("tab", ["plan", "files"])
def test_each_pane(tab: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_panes(pilot, TABS[tab])

    assert snap_compare(sample_app(theme), terminal_size=size, run_before=act)


@two_looks
@pytest.mark.parametrize("tab", ["terminals", "session"])
def test_other_panes(tab: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_panes(pilot, TABS[tab])

    assert snap_compare(sample_app(theme), terminal_size=size, run_before=act)


def test_files_on_the_full_screen(snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_panes(pilot, "2", "z")

    assert snap_compare(sample_app("dark"), terminal_size=SMALL, run_before=act)


@two_looks
def test_the_output_of_a_terminal(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await open_panes(pilot, "3", "down", "enter")

    assert snap_compare(sample_app(theme), terminal_size=size, run_before=act)
