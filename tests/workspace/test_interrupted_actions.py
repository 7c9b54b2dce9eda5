"""kill -9 while files are changed leaves each of them as it was before or as it should become."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("action", ["write", "revert", "rewind", "remember"])
def test_a_kill_at_any_system_call_leaves_the_old_or_the_new_content(tmp_path: Path, action: str) -> None:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    words = [sys.executable, "-m", "tests.workspace.interrupted_action", action, str(folder)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    states = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(states) > 5  # calls
    old, new = states[0], states[-1]
    assert old != new
    for state in states:
        assert all(content in (old[name], new[name]) for name, content in state.items())
    changed = [sum(state[name] != old[name] for name in state) for state in states]
    assert changed == sorted(changed)  # once a file is new, it stays so
