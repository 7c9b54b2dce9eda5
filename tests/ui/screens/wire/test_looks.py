"""Pictures of the wire screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.app import AcpTui
from acp_tui.ui.screens.wire.wire_screen import WireContext, WireScreen
from tests.support.looks import two_looks
from tests.support.recordings import WIRELOGS
from tests.support.waiting import until
from tests.ui.screens.wire.wire_ui import turn, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    Compare = Callable[..., bool]

RECORDING = next(path for path in WIRELOGS if path.stem == "claude-code-edit")
every_look = pytest.mark.parametrize(
    ("theme", "size"),
    [(theme, size) for theme in ("dark", "light", "ansi") for size in ((80, 24), (120, 40))],
    ids=[f"{theme}-{size}" for theme in ("dark", "light", "ansi") for size in ("80x24", "120x40")],
)


def shown(path: Path, theme: str) -> AcpTui:
    return AcpTui(lambda: WireScreen(WireContext(path, "Claude Agent")), theme=theme)


def screen_of(pilot: Pilot[Any]) -> WireScreen:
    assert isinstance(pilot.app.screen, WireScreen)
    return pilot.app.screen


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show times of day in UTC."""
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@every_look
def test_a_session(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.press("up", "up", "up")
        await pilot.pause()

    assert snap_compare(shown(RECORDING, theme), terminal_size=size, run_before=choose)


@two_looks
def test_a_deviation(snap_compare: Compare, tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    path = write(tmp_path / "wire.jsonl", turn())

    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.press("D")
        await until(lambda: not screen_of(pilot).frames.follows)
        await pilot.press("tab")
        await pilot.pause()

    assert snap_compare(shown(path, theme), terminal_size=size, run_before=choose)


@two_looks
def test_the_filter_with_completions(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    async def type_filter(pilot: Pilot[Any]) -> None:
        await pilot.press("slash", *"dir:in kind:")
        await until(lambda: not screen_of(pilot).listing.is_scanning)
        await pilot.pause()

    assert snap_compare(shown(RECORDING, theme), terminal_size=size, run_before=type_filter)


@two_looks
def test_a_selection(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(shown(RECORDING, theme), terminal_size=size, press=["up", "v", "up", "up", "up"])
