"""A conversation in a git worktree on a real terminal: its work is merged when the user quits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.support.cli import script, steps
from tests.support.terminal import DOWN, ESC, QUIT, PreloadedTerminal
from tests.workspace.projects import git, repository

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "What should happen to the worktree?"
USER = {
    **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ada@example.org" for role in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def test_what_the_agent_wrote_is_merged_into_the_checkout(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    prompt = steps(["write_file", "new.txt", "written by the agent"], ["say", "do", "ne!"])
    agent = ("--command", script(), prompt)
    with PreloadedTerminal(*agent, "--worktree-name", "topic", cwd=project, **USER) as terminal:
        terminal.sees("shop (worktree) · topic", "done!", "○ idle")
        assert not (project / "new.txt").exists()
        terminal.type(QUIT)
        terminal.sees(QUESTION, "new.txt", "Enter choose")
        terminal.type(ESC)
        terminal.until(lambda: QUESTION not in terminal.screen, "the conversation again")
        terminal.type(QUIT)
        terminal.sees(QUESTION, "Enter choose")
        terminal.type(DOWN)
        terminal.sees("❯ Merge into main: commit 1 file")
        terminal.type("\r")
        terminal.sees("Commits 1 file: new.txt")
        terminal.type("\x15Add the new file\r")
        assert terminal.ended() == 0
        assert "Merged 1 commit into main. The worktree was removed." in terminal.new_text()
    assert (project / "new.txt").read_text() == "written by the agent"
    assert git(project, "log", "--format=%s").splitlines() == ["Add the new file", "first"]
    assert git(project, "worktree", "list").count("\n") == 1


def test_a_worktree_without_changes_is_removed_without_a_question(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    with PreloadedTerminal("--command", script(), "--worktree", cwd=project, **USER) as terminal:
        terminal.sees("shop (worktree)", "idle")
        assert terminal.quit() == 0
        assert "Nothing had changed in it." in terminal.new_text()
    assert git(project, "worktree", "list").count("\n") == 1
    assert git(project, "branch").split() == ["*", "main"]
