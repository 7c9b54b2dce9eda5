"""`acp-tui replay` on a real terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.cli.commands.replay import speed
from acp_tui.controller.player import INSTANT
from tests.support.recordings import WIRELOGS
from tests.support.terminal import PreloadedTerminal

if TYPE_CHECKING:
    from pathlib import Path

EDIT = next(path for path in WIRELOGS if path.stem == "claude-code-edit")


def test_max_and_zero_mean_no_pauses() -> None:
    assert speed("max") == speed("0") == INSTANT


def test_a_replay_at_full_speed_ends_in_the_shell(tmp_path: Path) -> None:
    with PreloadedTerminal("replay", str(EDIT), "--speed", "1e9", cwd=tmp_path) as terminal:
        terminal.wait_for("I wrote the file.")
        assert terminal.quit() == 0
