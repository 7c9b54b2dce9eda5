"""Rules for git in nested repositories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from acp_tui.permissions.rule_matching import matches
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.permissions.subject import PathContext
from acp_tui.permissions.subject_reader import subject_of_command
from acp_tui.workspace.git.repository import find_repository_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def context(tmp_path: Path) -> PathContext:
    """Create a repository with a folder `src` and another repository in `lib/x`."""
    for name in (".git", "src", "lib/x/.git"):
        (tmp_path / name).mkdir(parents=True)
    return PathContext(str(tmp_path), [str(tmp_path)], os.path.realpath, repository_of=find_repository_folder)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("git status", "yes"),
        ("cd src && git status", "yes"),
        ("git -C src status", "yes"),
        ("cd lib/x && git status", "no"),
        ("cd lib && cd x && git status", "no"),
        ("sh -c 'cd lib/x && git status'", "no"),
        ("git -C lib/x status", "no"),
        ("git -C lib -C x status", "no"),
        ("git --git-dir=lib/x/.git status", "no"),
        ("git --work-tree lib/x status", "no"),
    ],
)
def test_a_rule_for_git_does_not_match_in_a_nested_repository(
    context: PathContext, line: str, match: str
) -> None:
    subject = subject_of_command(line, context=context)
    assert matches(parse_spec("execute:git", "allow"), subject, project=context.cwd) == match


def test_the_reason_names_the_nested_repository(context: PathContext) -> None:
    subject = subject_of_command("cd lib/x && git status", context=context)
    assert [why for _, why in subject.argument_risks] == [
        f"it runs git in {context.cwd}/lib/x, which is a separate repository"
    ]


def test_rules_for_other_programs_match_in_a_nested_repository(context: PathContext) -> None:
    subject = subject_of_command("cd lib/x && make", context=context)
    assert matches(parse_spec("execute:make", "allow"), subject, project=context.cwd) == "yes"
