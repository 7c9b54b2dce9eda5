"""Files and folders that make git run a program: no policy or rule allows them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cli import answers, execute_json, steps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a repository with an ordinary folder and a folder that is a bare repository."""
    folder = tmp_path / "project"
    for directory in (folder, folder / "src"):
        directory.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "init", "-q", "--bare", "lib/x"], cwd=folder, check=True)
    return folder


def write_request(path: Path) -> list[Any]:
    return ["ask", "fs/write_text_file", {"path": str(path), "content": "x"}]


def run_request(line: str) -> list[Any]:
    return [
        "permission",
        {"toolCallId": line, "title": "x", "kind": "execute", "rawInput": {"command": line}},
    ]


@pytest.mark.parametrize("policy", ["accept-edits", "yolo"])
def test_no_policy_allows_writing_files_that_git_runs(project: Path, policy: str) -> None:
    names = [".git/commondir", ".git/HEAD", ".git/index", ".git/refs/heads/x", ".git/objects/info/alternates"]
    names += [
        "lib/x/config",
        "lib/y/HEAD",
        ".gitconfig",
        ".bashrc",
        ".husky/pre-commit",
        ".vscode/tasks.json",
    ]
    responses = answers(
        execute_json(
            steps(*(write_request(project / name) for name in names)), "--policy", policy, cwd=project
        )
    )
    assert all("code" in answer for answer in responses)
    assert not (project / ".git/commondir").exists()
    assert not (project / "lib/y").exists()


def test_a_rule_for_git_applies_only_to_the_repository_of_the_workspace(project: Path) -> None:
    lines = ["git status", "cd src && git status", "cd lib/x && git status", "git -C lib/x status"]
    result = execute_json(steps(*map(run_request, lines)), "--allow", "execute:git", cwd=project)
    outcomes = [answer["outcome"]["optionId"].startswith("allow") for answer in answers(result)]
    assert outcomes == [True, True, False, False]
