"""A review of three files on a real terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import PreloadedTerminal
from tests.support.trust_steps import accept_revert_and_comment

if TYPE_CHECKING:
    from pathlib import Path


def test_three_files_are_accepted_reverted_and_commented(tmp_path: Path) -> None:
    project = (tmp_path / "project").resolve()
    project.mkdir()
    for name in "abc":
        (project / f"{name}.txt").write_text("old\n")
    steps = [["write_file", str(project / f"{name}.txt"), f"new {name}\n"] for name in "abc"]
    with PreloadedTerminal("--command", agent("script"), cwd=project) as terminal:
        terminal.wait_for("idle")
        terminal.type(f"{json.dumps([*steps, ['say', 'all written']])}\r")
        terminal.until(lambda: (project / "c.txt").read_text() == "new c\n")
        terminal.wait_for("all written")
        accept_revert_and_comment(terminal, [project / f"{name}.txt" for name in "abc"], "Say more.")
        terminal.until(lambda: terminal.new_text().count("Say more.") >= 2)
        assert [(project / f"{name}.txt").read_text() for name in "abc"] == ["new a\n", "old\n", "new c\n"]
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
