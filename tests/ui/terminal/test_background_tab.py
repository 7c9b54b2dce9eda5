"""Two tabs on a real terminal, with a question in the one that is not in front."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import PreloadedTerminal

if TYPE_CHECKING:
    from pathlib import Path


def test_a_question_in_the_background_is_announced_and_one_key_opens_it(tmp_path: Path) -> None:
    signal = tmp_path / "signal"
    steps = [["wait_for_file", str(signal)], ["permission", {"title": "Run the tests"}]]
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path, ACP_TUI_NOTIFY="bell") as terminal:
        terminal.sees("idle")
        terminal.type(f"{json.dumps(steps)}\r")
        terminal.sees("working")
        terminal.type("\x14")  # Ctrl+T
        terminal.sees("type to filter", "Demo agent")
        terminal.type("demo")
        terminal.sees("❯   Demo agent")
        terminal.type("\r")
        terminal.sees(" 1 ● scripted  2 Demo agent", "idle")
        bells = terminal.raw.count(b"\x07")
        signal.touch()
        terminal.sees("scripted in tab 1", "Alt+A opens the question", "1 tab needs you", " 1 ? scripted")
        assert terminal.raw.count(b"\x07") > bells
        terminal.type("\x1ba")
        terminal.sees("Run the tests", "allow_once")
        assert terminal.quit() == 0


def test_a_burst_of_keys_goes_to_the_tabs_it_names(tmp_path: Path) -> None:
    with PreloadedTerminal("demo", cwd=tmp_path) as terminal:
        terminal.sees("idle", "Message Demo agent")
        terminal.type("\x14demo")  # Ctrl+T and a filter
        terminal.sees("❯   Demo agent")
        terminal.type("\r")
        terminal.sees(" 1 Demo agent  2 Demo agent", "idle")
        terminal.type("\x1b1/permission\r\x1b2")  # Alt+1, a prompt, Alt+2
        terminal.sees("Demo agent in tab 1", "1 tab needs you", "Message Demo agent")
        terminal.type("\x1baa")  # Alt+A, and a letter that would allow
        terminal.sees("Demo agent asks to run a command", "Allow", "Enter answer")  # it is still open
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
