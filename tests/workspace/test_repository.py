from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from acp_tui.workspace.git.repository import branch_name
from tests.workspace.projects import fill, git, repository

if TYPE_CHECKING:
    from pathlib import Path


def test_the_branch_is_that_of_the_nearest_repository(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {"sub/deep/file": "1"})
    git(project, "checkout", "--quiet", "-b", "feature/one")
    assert branch_name(project) == "feature/one"
    assert branch_name(project / "sub" / "deep") == "feature/one"
    repository(project / "sub" / "deep", {})
    assert branch_name(project / "sub" / "deep") == "main"


def test_a_repository_without_a_commit_has_a_branch(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk")
    assert branch_name(tmp_path) == "trunk"


def test_a_detached_head_is_a_short_commit_id(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {"file": "1"})
    git(project, "checkout", "--quiet", "--detach")
    assert branch_name(project) == git(project, "rev-parse", "--short=7", "HEAD").strip()


def test_work_trees_and_submodules_have_their_own_branch(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {"file": "1"})
    library = repository(tmp_path / "library", {"lib": "1"})
    git(library, "branch", "stable")
    git(project, "worktree", "add", "--quiet", "-b", "second", str(tmp_path / "tree"))
    git(project, "submodule", "--quiet", "add", "-b", "stable", str(library), "sub")
    assert branch_name(tmp_path / "tree") == "second"
    assert branch_name(project / "sub") == "stable"
    assert branch_name(project) == "main"


def test_a_pointer_to_a_git_directory_may_be_relative(tmp_path: Path) -> None:
    repository(tmp_path / "real", {"file": "1"})
    fill(tmp_path, {"other/.git": "gitdir: ../real/.git\n"})
    assert branch_name(tmp_path / "other") == "main"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {".git/unrelated": ""},
        {".git": "nonsense"},
        {".git": "gitdir: /nowhere/at/all\n"},
        {".git/HEAD": b"\xff\xfe"},
        {".git/HEAD": "ref: refs/heads/.invalid"},
    ],
)
def test_an_invalid_repository_has_no_branch_and_is_no_error(
    tmp_path: Path, files: dict[str, str | bytes]
) -> None:
    found = branch_name(fill(tmp_path, files))
    assert found is None or found == "\N{REPLACEMENT CHARACTER}" * 2


def test_control_characters_in_a_branch_name_are_replaced(tmp_path: Path) -> None:
    fill(tmp_path, {".git/HEAD": "ref: refs/heads/evil\x1b[2J\n"})
    assert branch_name(tmp_path) == "evil\u241b[2J"


def test_a_fifo_in_place_of_head_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert branch_name(tmp_path) is None
