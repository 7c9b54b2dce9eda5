"""Going back by two turns, in a real terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import PreloadedTerminal
from tests.support.trust_steps import restore_files, rewind_by_two_prompts

if TYPE_CHECKING:
    from pathlib import Path


def test_the_files_are_restored_as_before_the_last_but_one_prompt(tmp_path: Path) -> None:
    names = ("a.txt", "b.txt", "c.txt")
    for name in names:
        (tmp_path / name).write_text("original\n", encoding="utf-8")
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.sees("idle")
        for name in names:
            steps = json.dumps([["write_file", name, "changed\n"], ["say", f"{name} is written"]])
            terminal.type(steps.replace("is written", r"\u0069s written") + "\r")  # only the agent says it
            terminal.sees(f"{name} is written", "idle")
        rewind_by_two_prompts(terminal, "files")
        restore_files(terminal, "b.txt", "c.txt")
        terminal.sees("Restored 2 files to before prompt 2.")
        texts = [(tmp_path / name).read_text(encoding="utf-8") for name in names]
        assert texts == ["changed\n", "original\n", "original\n"]
        terminal.type("\x10")
        terminal.sees("Commands")
        terminal.type("undo rewind")
        terminal.sees("Undo rewind of files")
        terminal.type("\r")
        terminal.sees("The last rewind was undone: 2 files.")
        assert (tmp_path / "c.txt").read_text(encoding="utf-8") == "changed\n"
        assert terminal.quit() == 0
