"""Going back by two turns, in a real terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

ESC, DOWN = "\x1b[27u", "\x1b[B"


def test_the_files_are_restored_as_before_the_last_but_one_prompt(tmp_path: Path) -> None:
    names = ("a.txt", "b.txt", "c.txt")
    for name in names:
        (tmp_path / name).write_text("original\n", encoding="utf-8")
    with Terminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        for name in names:
            steps = json.dumps([["write_file", name, "changed\n"], ["say", f"{name} is written"]])
            terminal.type(steps.replace("is written", r"\u0069s written") + "\r")  # only the agent says it
            terminal.wait_for(f"{name} is written", "idle")
        terminal.type(f"{ESC}{ESC}")
        terminal.wait_for("Rewind to before which prompt?", "changed 1 file")
        terminal.type(f"{DOWN}\r")
        terminal.wait_for("What to restore")
        terminal.type("\r")
        terminal.wait_for("b.txt: restore", "c.txt: restore", "Restore the files")
        terminal.type(f"{DOWN}\r")
        terminal.wait_for("Files restored as they were before prompt 2: 2 files.")
        texts = [(tmp_path / name).read_text(encoding="utf-8") for name in names]
        assert texts == ["changed\n", "original\n", "original\n"]
        terminal.type("\x10")
        terminal.wait_for("Commands")
        terminal.type("undo rewind")
        terminal.wait_for("Undo rewind of files")
        terminal.type("\r")
        terminal.wait_for("The last rewind was undone: 2 files.")
        assert (tmp_path / "c.txt").read_text(encoding="utf-8") == "changed\n"
        assert terminal.quit() == 0
