"""The dialogs at the end of a worktree."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen
from acp_tui.ui.screens.worktree import CommitMessageDialog, discard_question, finish_question
from acp_tui.workspace.git.worktree import Worktree
from acp_tui.workspace.git.worktree_finishing import WorktreeStatus
from tests.support.looks import SMALL, Show, look

PATH = Path("/home/ada/.local/share/acp-tui/worktrees/shop-3f2a11/fix-login")
WORKTREE = Worktree(PATH, "fix-login", "abc", Path("/home/ada/shop"), target="main")
CHANGED = WorktreeStatus(
    head="def",
    target="abc",
    commits=("91bf3fa Check the password", "6bb7fcc Sketch the login"),
    changed=("src/login.py",),
    untracked=("src/session.py", "tests/test_login.py"),
    ignored=(".venv/",),
)
KEEP, DISCARD = "Keep the worktree, and resume the session later", "Discard the worktree …"
SQUASH = "Merge into main as one commit"


@pytest.mark.parametrize(
    ("status", "merges"),
    [
        (CHANGED, ["Merge into main: commit 3 files, then fast-forward by 3 commits", SQUASH]),
        (replace(CHANGED, commits=()), ["Merge into main: commit 3 files"]),
        (replace(CHANGED, changed=(), untracked=()), ["Merge into main: fast-forward by 2 commits", SQUASH]),
        (replace(CHANGED, behind=1), [SQUASH]),
        (replace(CHANGED, commits=(), behind=1), [SQUASH]),
        (replace(CHANGED, commits=(), changed=(), untracked=()), []),
        (replace(CHANGED, obstacle="The worktree cannot be merged: it has unresolved conflicts."), []),
    ],
)
def test_what_can_be_done_depends_on_what_is_in_the_worktree(
    status: WorktreeStatus, merges: list[str]
) -> None:
    answers = finish_question(WORKTREE, status).answers
    assert [answer.label for answer in answers] == [KEEP, *merges, DISCARD]


def test_discarding_names_everything_that_is_lost() -> None:
    question = discard_question(WORKTREE, CHANGED)
    assert question.answers[1].label == "Discard 2 commits, 3 files and the ignored files"
    assert question.answers[1].grants
    named = {value for _, value in question.facts}
    assert named >= {*CHANGED.commits, *CHANGED.changed, *CHANGED.untracked, *CHANGED.ignored}


def test_long_lists_are_cut() -> None:
    facts = discard_question(WORKTREE, replace(CHANGED, untracked=("x",) * 1500)).facts
    assert ("untracked", "1,500") in facts
    assert ("", "… and 1,300 more") in facts


@look
def test_the_question(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    question = finish_question(
        WORKTREE,
        replace(CHANGED, behind=1),
        problem="The commit was refused, so nothing was merged.",
        git_output=["lint: src/login.py:12: unused name"],
    )
    clock = count(100).__next__
    app = Show(theme, screen=lambda: GuardedQuestionScreen(question, clock=clock))  # type: ignore[arg-type, return-value]
    assert snap_compare(app, terminal_size=size)


def test_the_message(snap_compare: Any) -> None:
    what = "Makes one commit of 2 commits and 3 files: src/login.py, src/session.py, tests/test_login.py"
    app = Show(
        "dark",
        screen=lambda: CommitMessageDialog("Merge into main", what, "Add the login"),  # type: ignore[arg-type, return-value]
    )
    assert snap_compare(app, terminal_size=SMALL)
