"""`acp-tui replay` on a real terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.recordings import WIRELOGS
from tests.support.terminal import PreloadedTerminal

if TYPE_CHECKING:
    from pathlib import Path

EDIT = next(path for path in WIRELOGS if path.stem == "claude-code-edit")


@pytest.mark.parametrize("speed", ["0", "max", "1e9"])
def test_a_replay_at_full_speed_ends_in_the_shell(tmp_path: Path, speed: str) -> None:
    with PreloadedTerminal("replay", str(EDIT), "--speed", speed, cwd=tmp_path) as terminal:
        terminal.wait_for("I wrote the file.")
        assert terminal.quit() == 0
