from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_tui.errors import Refusal, UserError
from acp_tui.workspace.files.open_folder import Roots, require_absolute


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path.resolve()


def test_only_paths_below_a_root_are_inside(tmp_path: Path) -> None:
    root = folder(tmp_path / "project")
    folder(tmp_path / "project-secrets")
    roots = Roots(root)
    assert roots.contains(root)
    assert roots.contains(root / "deep" / "file")
    assert not roots.contains(root.parent / "project-secrets" / "file")
    assert not roots.contains(root.parent)


def test_additional_directories_are_inside(tmp_path: Path) -> None:
    root, other = folder(tmp_path / "a"), folder(tmp_path / "b")
    roots = Roots(root, [other, root])
    assert roots.contains(other / "file")
    assert roots.cwd == root
    assert roots.directories == (root, other)


def test_a_root_that_is_a_link_is_resolved_once(tmp_path: Path) -> None:
    real, elsewhere = folder(tmp_path / "real"), folder(tmp_path / "elsewhere")
    link = tmp_path / "link"
    link.symlink_to(real)
    roots = Roots(link)
    link.unlink()
    link.symlink_to(elsewhere)
    assert roots.cwd == real
    assert roots.contains(real / "file")
    assert not roots.contains(elsewhere / "file")


def test_the_root_directory_contains_everything() -> None:
    assert Roots(Path("/")).contains(Path("/anything/at/all"))


def test_a_root_may_have_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        root.mkdir()
    except OSError:
        pytest.skip("this file system requires UTF-8 names")
    assert Roots(root).contains(root.resolve() / "file")


def test_a_root_that_is_missing_or_a_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UserError, match="does not exist"):
        Roots(tmp_path / "missing")
    with pytest.raises(UserError, match="is not a folder"):
        Roots(tmp_path, [file])


@pytest.mark.parametrize("path", ["relative", "./here", "../up", "~/home", "", "file:///etc/passwd"])
def test_relative_paths_are_refused(path: str) -> None:
    with pytest.raises(Refusal, match="not an absolute path") as refused:
        require_absolute(path)
    assert refused.value.code == -32602
    assert refused.value.data == {"path": path}


@pytest.mark.parametrize("path", ["/with\0nul", "/half\ud83dcharacter"])
def test_invalid_file_names_are_refused(path: str) -> None:
    with pytest.raises(Refusal, match="is not a valid file name") as refused:
        require_absolute(path)
    assert refused.value.code == -32602
