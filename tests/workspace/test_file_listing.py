"""Listing of the files that can be mentioned in a prompt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.workspace.files.file_listing import FileListing, ListedFiles
from tests.support.waiting import wait_until
from tests.workspace.projects import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from acp_tui.processes.reaper import Reaper


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, encoding="utf-8")


def wait_for_listing(found: ListedFiles) -> ListedFiles:
    wait_until(lambda: found.complete)
    return found


@pytest.fixture
def listed(reaper: Reaper) -> Iterator[Callable[..., ListedFiles]]:
    listings: list[FileListing] = []

    def list_files(*folders: Path) -> ListedFiles:
        listings.append(FileListing(folders, reaper=reaper))
        return wait_for_listing(listings[-1].current())

    yield list_files
    for listing in listings:
        listing.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a repository with committed, changed, deleted, new and ignored files."""
    project = tmp_path / "project"
    put(project, "src/app.py", "src/deep/er/x.py", "README.md", "gone.py", "changed.py", ".gitignore")
    (project / ".gitignore").write_text("*.log\nsecret/\n", encoding="utf-8")
    git(project.parent, "init", "-q", str(project))
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "all")
    put(project, "new one.py", "debug.log", "secret/key", "node_modules/left-pad/index.js")
    (project / "gone.py").unlink()
    (project / "changed.py").write_text("other, and longer", encoding="utf-8")
    return project


def test_a_repository_is_listed_without_ignored_files(
    project: Path, listed: Callable[..., ListedFiles]
) -> None:
    found = listed(project)
    assert set(found.paths) - found.missing == {
        *("src/", "src/app.py", "src/deep/", "src/deep/er/", "src/deep/er/x.py", "README.md"),
        *("changed.py", ".gitignore", "new one.py"),
    }
    assert found.missing == {"gone.py"}
    assert {"changed.py", "new one.py"} <= found.changed
    assert "README.md" not in found.changed
    assert not found.truncated


def test_paths_lower_and_bases_have_the_same_order(project: Path, listed: Callable[..., ListedFiles]) -> None:
    found = listed(project)
    assert found.lower == [path.lower() for path in found.paths]
    assert dict(zip(found.paths, found.bases, strict=True))["src/deep/"] == "deep/"
    assert dict(zip(found.paths, found.bases, strict=True))["README.md"] == "readme.md"


def test_a_subfolder_of_a_repository_has_relative_paths(
    project: Path, listed: Callable[..., ListedFiles]
) -> None:
    assert set(listed(project / "src").paths) == {"app.py", "deep/", "deep/er/", "deep/er/x.py"}


def test_an_ignored_folder_can_be_listed_itself(project: Path, listed: Callable[..., ListedFiles]) -> None:
    assert listed(project / "secret").paths == ["key"]


def test_additional_folders_have_absolute_paths(
    project: Path, tmp_path: Path, listed: Callable[..., ListedFiles]
) -> None:
    other = tmp_path / "other"
    put(other, "notes.txt")
    found = listed(project, other)
    assert f"{other}/notes.txt" in found.paths
    assert "README.md" in found.paths


def test_outside_a_repository_generated_folders_are_left_out(
    tmp_path: Path, listed: Callable[..., ListedFiles]
) -> None:
    put(tmp_path / "plain", "a.txt", "b/c.txt", "node_modules/x/y.js", ".hidden/z")
    (tmp_path / "plain" / "loop").symlink_to(tmp_path / "plain")
    found = listed(tmp_path / "plain")
    assert set(found.paths) == {"a.txt", "b/", "b/c.txt", ".hidden/", ".hidden/z", "loop"}


def test_programs_in_the_git_configuration_are_not_run(
    project: Path, listed: Callable[..., ListedFiles]
) -> None:
    trace = project.parent / "ran"
    program = project.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\n", encoding="utf-8")
    program.chmod(0o755)
    git(project, "config", "core.fsmonitor", str(program))
    git(project, "config", "filter.evil.clean", str(program))
    put(project, "evil.txt")
    (project / ".gitattributes").write_text("* filter=evil\n", encoding="utf-8")
    assert "evil.txt" in listed(project).paths
    assert not trace.exists()


def test_a_repository_with_a_broken_index_is_listed(
    project: Path, listed: Callable[..., ListedFiles]
) -> None:
    (project / ".git" / "index").write_bytes(b"nonsense")
    assert {"src/app.py", "new one.py"} <= set(listed(project).paths)


def test_files_with_unusual_names_are_listed(tmp_path: Path, listed: Callable[..., ListedFiles]) -> None:
    names = ["fine", 'say "hi".txt', "two\nlines", "esc\x1b[31m"]
    put(tmp_path / "plain", *names)
    if sys.platform != "darwin":  # where all names are UTF-8
        names.append("odd\udcff")
        (tmp_path / "plain" / names[-1]).touch()
    assert sorted(listed(tmp_path / "plain").paths) == sorted(names)


def test_the_old_listing_is_used_until_a_new_one_is_complete(tmp_path: Path, reaper: Reaper) -> None:
    now = 0.0
    put(tmp_path / "plain", "first")
    listing = FileListing([tmp_path / "plain"], clock=lambda: now, reaper=reaper)
    first = wait_for_listing(listing.current())
    put(tmp_path / "plain", "second")
    assert listing.current() is first
    now = 100.0
    assert listing.current() is first  # the new listing has only started
    wait_until(lambda: listing.current() is not first)
    assert sorted(listing.current().paths) == ["first", "second"]
    listing.close()


def test_a_listing_can_be_cancelled(tmp_path: Path, reaper: Reaper) -> None:
    for number in range(200):
        put(tmp_path / "plain", *(f"{number}/{name}" for name in range(20)))
    listing = FileListing([tmp_path / "plain"], reaper=reaper)
    found = listing.current()
    listing.close()
    assert found.complete
