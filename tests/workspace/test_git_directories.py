"""Folders that git recognises as repositories, and the files that make one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots
from acp_tui.workspace.git.repository import find_repository_folder, git_directory_reason, is_git_directory

if TYPE_CHECKING:
    from pathlib import Path


def bare(folder: Path) -> Path:
    """Create a bare repository and return its folder."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_a_folder_with_head_objects_and_refs_is_a_git_directory(tmp_path: Path) -> None:
    assert is_git_directory(bare(tmp_path / "lib" / "x"))
    assert not is_git_directory(tmp_path)


def test_a_folder_with_head_and_commondir_is_a_git_directory(tmp_path: Path) -> None:
    (tmp_path / "HEAD").touch()
    assert not is_git_directory(tmp_path)
    (tmp_path / "commondir").touch()
    assert is_git_directory(tmp_path)


def test_the_nearest_repository_is_found(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = bare(tmp_path / "lib" / "x")
    (tmp_path / "src").mkdir()
    (inner / "deep").mkdir()

    assert find_repository_folder(str(tmp_path / "src")) == str(tmp_path)
    assert find_repository_folder(str(inner / "deep")) == str(inner)


def test_a_folder_with_a_git_file_is_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    assert find_repository_folder(str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize(
    "name", ["config", "hooks/post-checkout", "objects/x", "refs/heads/x", "index", "any"]
)
def test_any_file_in_a_git_directory_is_sensitive(tmp_path: Path, name: str) -> None:
    folder = bare(tmp_path / "lib" / "x")
    files = FileAccess(Roots(tmp_path))
    assert files.sensitive(folder / name)


@pytest.mark.parametrize("missing", ["HEAD", "objects/x", "refs/heads/x", "config", "commondir"])
def test_a_file_that_would_complete_a_git_directory_is_sensitive(tmp_path: Path, missing: str) -> None:
    if missing != "HEAD":
        (tmp_path / "HEAD").touch()
    assert FileAccess(Roots(tmp_path)).sensitive(tmp_path / missing)


def test_the_same_names_in_other_folders_are_not_sensitive(tmp_path: Path) -> None:
    for name in ("config", "index", "objects/x", "refs/x", "info/x"):
        assert git_directory_reason(tmp_path / name) is None
