"""A review of three files on a real terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

F2 = "\x1bOQ"


def test_three_files_are_accepted_reverted_and_commented(tmp_path: Path) -> None:
    project = (tmp_path / "project").resolve()
    project.mkdir()
    for name in "abc":
        (project / f"{name}.txt").write_text("old\n")
    steps = [["write_file", str(project / f"{name}.txt"), f"new {name}\n"] for name in "abc"]
    with Terminal("--command", agent("script"), cwd=project) as terminal:
        terminal.wait_for("idle")
        terminal.type(f"{json.dumps([*steps, ['say', 'all written']])}\r")
        terminal.until(lambda: (project / "c.txt").read_text() == "new c\n")
        terminal.wait_for("all written")
        terminal.type(F2)
        terminal.wait_for("0 of 3 reviewed", "Hunk 1", "new a")
        terminal.type("y")
        terminal.wait_for("1 of 3 reviewed", "new b")
        terminal.type("u")
        terminal.wait_for("2 of 3 reviewed", "new c")
        assert (project / "b.txt").read_text() == "old\n"
        terminal.type("Z")
        terminal.wait_for("1 of 3 reviewed")
        terminal.until(lambda: (project / "b.txt").read_text() == "new b\n")
        terminal.type("u")
        terminal.wait_for("2 of 3 reviewed")
        terminal.type("jc")
        terminal.wait_for("Comment on line 1")
        terminal.type("Say more.\r")
        terminal.wait_for("1 comment")
        terminal.type("S")  # the agent sends the prompt back
        terminal.until(lambda: terminal.new_text().count("Say more.") >= 2)
        assert [(project / f"{name}.txt").read_text() for name in "abc"] == ["new a\n", "old\n", "new c\n"]
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
