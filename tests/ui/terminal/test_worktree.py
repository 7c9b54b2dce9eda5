"""A conversation in a git worktree on a real terminal: its work is merged when the user quits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.support.cli import script, steps
from tests.support.leftovers import processes_with
from tests.support.terminal import DOWN, ESC, QUIT, PreloadedTerminal
from tests.ui.terminal.test_killed_program import configure_agent, kill, open_tab
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


def kill_with_two_tabs(project: Path, home: Path) -> None:
    """Leave two tabs behind: one with a new file in the worktree "topic", and one in front."""
    configure_agent(home)
    with PreloadedTerminal("mine", "--worktree-name", "topic", cwd=project, **USER) as killed:
        killed.sees("idle")
        killed.type("!echo half > new.txt\r")
        killed.until(lambda: any(home.glob("data/worktrees/*/topic/new.txt")), "the file")
        open_tab(killed, " 1 topic  2 mine-")
        killed.type("!echo =$((40 + 2))=\r")
        killed.sees("=42=")
        kill(killed)


def running_agents(terminal: PreloadedTerminal) -> set[int]:
    """Return the agents that the program has started, but not git or other helpers that come and go."""
    return {*terminal.left_behind()} & {*processes_with("tests.fake_agents.script")}


TWO_TABS = "1 !echo half > new.txt  2 !echo =$((40 + 2))="


def test_quitting_asks_about_the_worktree_of_a_tab_that_was_not_opened_yet(
    tmp_path: Path, home: Path
) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    kill_with_two_tabs(project, home)
    with PreloadedTerminal("--continue", cwd=project, **USER) as again:
        again.sees(TWO_TABS, "=42=", "idle")
        agents = running_agents(again)
        again.type(QUIT)
        again.sees(TWO_TABS, QUESTION, "new.txt", "Enter choose")
        assert running_agents(again) == agents  # no agent was started to ask this
        again.type(DOWN)
        again.sees("❯ Merge into main: commit 1 file")
        again.type("\r")
        again.sees("Commits 1 file: new.txt")
        again.type("\x15Add the new file\r")
        assert again.ended() == 0
        assert "Merged 1 commit into main. The worktree was removed." in again.new_text()
    assert (project / "new.txt").read_text() == "half\n"
    assert list(home.glob("data/worktrees/*/topic")) == []
    with PreloadedTerminal("--continue", cwd=project, **USER) as rest:
        rest.sees("=42=", "idle")
        assert TWO_TABS not in rest.screen  # what was merged has ended
    assert list(home.glob("data/worktrees/*/topic")) == []


def test_going_back_from_the_question_opens_the_restored_tab(tmp_path: Path, home: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    kill_with_two_tabs(project, home)
    with PreloadedTerminal("--continue", cwd=project, **USER) as again:
        again.sees(TWO_TABS, "=42=", "idle")
        again.type(QUIT)
        again.sees(QUESTION, "new.txt", "Enter choose")
        again.type(ESC)
        again.sees(TWO_TABS, "shop (worktree) · topic", "idle")
        again.type(QUIT)
        again.sees(QUESTION, "Enter choose")
        again.type("\r")  # keep it
        assert again.ended() == 0
        assert "Open these 2 tabs again with: acp-tui --continue\r\n" in again.new_text()
    assert len(list(home.glob("data/worktrees/*/topic/new.txt"))) == 1


def test_continue_says_that_the_only_session_was_merged(tmp_path: Path, home: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    prompt = steps(["write_file", "new.txt", "text"], ["say", "do", "ne!"])
    words = ("--command", script(), prompt, "--worktree-name", "topic")
    with PreloadedTerminal(*words, cwd=project, **USER) as terminal:
        terminal.sees("done!", "○ idle")
        terminal.type(QUIT)
        terminal.sees(QUESTION, "Enter choose")
        terminal.type(DOWN + "\r")
        terminal.sees("Commits 1 file: new.txt")
        terminal.type("\x15Add the new file\r")
        assert terminal.ended() == 0
    with PreloadedTerminal("--continue", cwd=project, **USER) as again:
        assert again.ended() == 1
        assert "was merged or discarded. `acp-tui --resume " in again.new_text().replace("\r\n", " ")
    [session] = [log.parent.name for log in home.glob("data/sessions/*/wire.jsonl")]
    with PreloadedTerminal("--resume", session, cwd=project, **USER) as resumed:
        resumed.sees("The worktree of this session was restored on the branch topic")
        kill(resumed)
    with PreloadedTerminal("--continue", cwd=project, **USER) as again:
        again.sees("shop (worktree) · topic")
