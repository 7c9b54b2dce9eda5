"""A comparison on a real terminal: what is left of it after quitting and after `kill -9`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.cli import script
from tests.support.terminal import ESC, F4, QUIT, PreloadedTerminal
from tests.ui.terminal.test_killed_program import kill
from tests.ui.terminal.test_worktree import QUESTION, USER
from tests.workspace.projects import git, repository

if TYPE_CHECKING:
    from pathlib import Path

CAN_RESUME: dict[str, Any] = {"sessionCapabilities": {"resume": {}}}
TURN = [["write_file", "new.txt", "half"], ["wait_for_cancel"]]
WRITES = ["--command", script(turns={"go": TURN}, capabilities=CAN_RESUME)]
DOES_NOTHING = ["--command", script(turns={"go": [["say", "nothing to do"]]})]


def worktrees(project: Path) -> int:
    return git(project, "worktree", "list").count("\n") - 1


def test_worktrees_of_a_killed_comparison_come_back_as_tabs_and_in_the_list(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    with PreloadedTerminal("compare", *WRITES, *WRITES, "go", cwd=project, **USER) as killed:
        killed.sees("2 of 2 working", "0:01")
        kill(killed)
    assert worktrees(project) == 2
    with PreloadedTerminal("--continue", cwd=project, **USER) as again:
        again.sees(
            "1 tests.fake_agents.script-1: ", "2 tests.fake_agents.script-2: ", "shop (worktree)", "idle"
        )
        again.type(F4)
        again.sees("tests.fake_agents.script-1: ", "1     1")  # a turn, a changed file
        again.type(ESC)
        again.until(lambda: "Recorded sessions" not in again.screen, "the conversation")
        for _ in range(2):
            again.type(QUIT)
            again.sees(QUESTION, "new.txt", "Enter choose")
            again.type("\x1b[A")
            again.sees("❯ Discard the worktree …")
            again.type("\r")
            again.sees("Discard the worktree?", "Enter choose")
            again.type("\x1b[B\r")
            again.until(lambda: "Discard the worktree?" not in again.screen, "the next question")
        assert again.ended() == 0
    assert worktrees(project) == 0


def test_quitting_asks_about_each_changed_worktree_and_removes_the_others(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    with PreloadedTerminal("compare", *WRITES, *DOES_NOTHING, "go", cwd=project, **USER) as terminal:
        terminal.sees("1 of 2 working", "done")
        terminal.type(QUIT)
        terminal.sees("still working")
        terminal.type(QUIT)
        terminal.sees(QUESTION, "new.txt", "Enter choose")
        terminal.type("\r")
        assert terminal.ended() == 0
        assert "script-2-" in terminal.new_text()
        assert "was removed. Nothing had changed in it." in terminal.new_text().replace("\r\n", " ")
    assert worktrees(project) == 1
