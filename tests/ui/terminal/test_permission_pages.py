"""On a real terminal, nothing can be allowed before its facts were on the screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.conversation_ui import agent, offers
from tests.support.terminal import PreloadedTerminal

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = "make build && " + " ".join(f"step-{number}" for number in range(60))


def accepts_keys(terminal: PreloadedTerminal) -> None:
    """Wait until the dialog shows something new and accepts keys."""
    terminal.sees("asks to run", "keys work once you stop typing")
    terminal.until(lambda: "keys work once" not in terminal.screen and "reject" in terminal.screen)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
def test_the_environment_is_on_the_screen_before_a_key_allows_the_command(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    paths = [f"{tmp_path}/part{number}.py" for number in range(4)]
    call = {
        "title": "Build",
        "kind": "execute",
        "rawInput": {"command": COMMAND, "env": {"DEMO": "1"}},
        "locations": [{"path": path} for path in paths],
        "content": [{"type": "diff", "path": path, "oldText": "a\n", "newText": "b\n"} for path in paths],
    }
    with PreloadedTerminal(
        "--command", agent("script", offers(turns={"go": [["permission", call]]})), cwd=tmp_path
    ) as terminal:
        terminal.resize(*size)
        terminal.sees("idle")
        terminal.type("go\r")
        accepts_keys(terminal)
        seen = terminal.screen
        while "below" in terminal.screen:
            terminal.type("a")
            accepts_keys(terminal)
            seen += terminal.screen
        text = re.sub(r"[│\s]", "", seen)  # long paths are wrapped
        for fact in ("step-59", "DEMO=1", "part0.py", "part3.py+1−1", "allow_once"):
            assert fact in text
        assert "optionId" not in terminal.screen
        terminal.type("a")
        terminal.sees('"optionId"')
        assert terminal.quit() == 0
