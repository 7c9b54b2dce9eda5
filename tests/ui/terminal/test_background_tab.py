"""Two tabs on a real terminal, with a question in the one that is not in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


def test_a_question_in_the_background_is_announced_and_one_key_opens_it(tmp_path: Path) -> None:
    settings = tmp_path / "config" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('notify = "bell"\n')
    with Terminal("demo", cwd=tmp_path, ACP_TUI_HOME=str(tmp_path)) as terminal:
        terminal.sees("idle", "Message Demo agent")
        terminal.type("\x14")  # Ctrl+T
        terminal.sees("type to filter", "Demo agent")
        terminal.type("demo")
        terminal.sees("❯   Demo agent")
        terminal.type("\r")
        terminal.sees(" 1 Demo agent  2 Demo agent", "idle")
        bells = terminal.raw.count(b"\x07")
        terminal.type("/slow 2\r")
        terminal.sees("working")
        terminal.type("\x1b1")  # Alt+1
        terminal.sees("1 Demo agent  2 ● /slow 2")
        terminal.type("/permission\r")
        terminal.sees("┃ /permission")
        terminal.type("\x1b2")
        terminal.sees("Demo agent in tab 1", "Alt+A opens the question", "1 tab asks")
        assert terminal.raw.count(b"\x07") > bells
        terminal.type("\x1ba")
        terminal.sees("Allow")
        assert terminal.quit() == 0
