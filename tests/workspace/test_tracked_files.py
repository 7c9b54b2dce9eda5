"""Unchanged tracked files are not copied: their contents are shared with the user's repository."""

from __future__ import annotations

import errno
import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from acp_tui.workspace.baseline.baseline import Baseline
from acp_tui.workspace.baseline.file_change import Limits
from acp_tui.workspace.files.open_folder import Roots
from tests.workspace.projects import changes, fill, git, repository, revert_all, snapshot, taken

if TYPE_CHECKING:
    from pathlib import Path


def settle(project: Path) -> None:
    """Write the index anew, later than the files, so that git trusts their timestamps."""
    os.utime(project / ".git" / "index")


async def reverted(baseline: Baseline, project: Path, names: list[str]) -> None:
    for name in names:
        (project / name).write_bytes(b"overwritten by the agent")
    assert set(await changes(baseline, project)) == set(names)
    await revert_all(baseline)


async def test_clean_tracked_files_are_not_copied_and_come_back_byte_for_byte(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1\n", "dir/b": b"\0\xff", "c": ""})
    settle(project)
    before = snapshot(project)
    baseline = await taken(project)
    assert (baseline.totals.files, baseline.totals.size) == (3, 0)
    await reverted(baseline, project, ["a", "dir/b", "c"])
    assert snapshot(project) == before


async def test_changed_staged_and_untracked_files_come_back_as_they_were(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"clean": "1", "edited": "1", "staged": "1"})
    fill(project, {"edited": "2", "staged": "2", "untracked": "2"})
    git(project, "add", "staged")
    settle(project)
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["clean", "edited", "staged", "untracked"])
    assert snapshot(project) == before


async def test_a_repository_without_a_commit_is_covered(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    fill(project, {"staged": "1", "untracked": "2"})
    git(project, "add", "staged")
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["staged", "untracked"])
    assert snapshot(project) == before


async def test_a_work_tree_of_another_repository_is_covered(tmp_path: Path) -> None:
    main = repository(tmp_path.resolve() / "main", {"a": "1", "b": "2"})
    project = tmp_path.resolve() / "project"
    git(main, "worktree", "add", "--quiet", str(project))
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["a", "b"])
    assert snapshot(project) == before


async def test_a_clone_that_borrows_objects_is_covered(tmp_path: Path) -> None:
    main = repository(tmp_path.resolve() / "main", {"a": "1", "b": "2"})
    project = tmp_path.resolve() / "project"
    git(main, "clone", "--quiet", "--shared", str(main), str(project))
    settle(project)
    before = snapshot(project)
    baseline = await taken(project)
    assert baseline.totals.size == 0
    await reverted(baseline, project, ["a", "b"])
    assert snapshot(project) == before


async def test_the_time_of_a_shared_object_stays_when_another_file_has_the_same_content(
    tmp_path: Path,
) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "same"})
    name = git(project, "rev-parse", ":a").strip()
    shared = project / ".git/objects" / name[:2] / name[2:]
    os.utime(shared, (1_000_000_000, 1_000_000_000))
    fill(project, {"untracked": "same"})
    settle(project)
    await taken(project)
    assert shared.stat().st_nlink > 1
    assert shared.stat().st_mtime == 1_000_000_000


@pytest.mark.parametrize("packed", [False, True], ids=["loose objects", "packs"])
async def test_a_content_survives_that_git_prunes_from_the_repository(tmp_path: Path, packed: bool) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1"})
    fill(project, {"b": "only staged"})
    git(project, "add", "b")
    if packed:
        git(project, "repack", "-q", "-a", "-d")
    settle(project)
    baseline = await taken(project)
    git(project, "rm", "--quiet", "--cached", "b")
    git(project, "gc", "--quiet", "--prune=now")
    await reverted(baseline, project, ["a", "b"])
    assert (project / "b").read_text() == "only staged"


async def test_files_with_converted_line_ends_come_back_with_those_they_had(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"plain": "1\n"})
    git(project, "config", "core.autocrlf", "true")
    fill(project, {"crlf": "1\r\n2\r\n", ".gitattributes": "*.dos text eol=crlf\n", "x.dos": "1\r\n"})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=second")
    settle(project)
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["crlf", "x.dos", "plain"])
    assert snapshot(project) == before


@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes", "user"])
async def test_files_of_a_filter_come_back_as_they_were_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    project = repository(tmp_path.resolve() / "project", {"plain": "1"})
    rule = "*.rot filter=rot13\n"
    if where == "user":
        monkeypatch.setenv("HOME", str(fill(tmp_path / "home", {"attributes": rule})))
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        fill(tmp_path / "home", {".gitconfig": "[include]\npath = more\n"})
        fill(tmp_path / "home", {"more": "[core]\nattributesFile = ~/attributes\n"})
        fill(project, {".git/info/attributes": rule})
    else:
        fill(project, {where: rule})
    git(project, "config", "filter.rot13.clean", "tr a-z n-za-m")
    git(project, "config", "filter.rot13.smudge", "tr a-z n-za-m")
    fill(project, {"secret.rot": "hello"})
    git(project, "add", "--all")
    assert git(project, "show", ":secret.rot") == "uryyb"
    if where == "user":
        (project / ".git/info/attributes").unlink()
    settle(project)
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["secret.rot", "plain"])
    assert snapshot(project) == before


async def test_attributes_in_a_tracked_generated_folder_count(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"plain": "1"})
    git(project, "config", "filter.rot13.clean", "tr a-z n-za-m")
    fill(project, {"node_modules/.gitattributes": "*.rot filter=rot13\n", "node_modules/secret.rot": "hello"})
    git(project, "add", "--all", "--force")
    settle(project)
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["node_modules/secret.rot", "plain"])
    assert snapshot(project) == before


async def test_files_are_copied_if_an_attribute_file_is_too_large_to_read(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1"})
    fill(project, {".git/info/attributes": "#" * 1_000_001})
    settle(project)
    baseline = await taken(project)
    assert baseline.totals.size == 1
    await reverted(baseline, project, ["a"])
    assert (project / "a").read_text() == "1"


async def test_names_in_the_index_that_lead_out_of_the_folder_are_ignored(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"plain": "1", "xx/outside": "from the repository"})
    fill(tmp_path, {"outside": "from the repository"})
    times = (project / "xx/outside").stat()
    os.utime(tmp_path / "outside", ns=(times.st_atime_ns, times.st_mtime_ns))
    index = (project / ".git/index").read_bytes()[:-20].replace(b"xx/outside", b"../outside")
    (project / ".git/index").write_bytes(index + hashlib.sha1(index).digest())  # git's own
    assert "../outside" in git(project, "ls-files")
    settle(project)
    baseline = await taken(project)
    fill(tmp_path, {"outside": "mine"})
    await reverted(baseline, project, ["plain", "xx/outside"])
    assert (tmp_path / "outside").read_text() == "mine"


@pytest.mark.parametrize("value", ["~1", "~nobody-of-this-name/x", "~"])
async def test_settings_that_begin_with_a_tilde_do_no_harm(tmp_path: Path, value: str) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1"})
    git(project, "config", "core.attributesFile", value)
    git(project, "config", "custom.value", value)
    settle(project)
    baseline = await taken(project)
    assert baseline.totals.size == 0
    await reverted(baseline, project, ["a"])


async def test_pipes_among_the_objects_are_not_opened(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1", "b": "2"})
    name = git(project, "rev-parse", ":a").strip()
    (project / ".git/objects" / name[:2] / name[2:]).unlink()
    for place in (f"{name[:2]}/{name[2:]}", "pack/pack-1.idx", "pack/pack-1.pack"):
        os.mkfifo(project / ".git/objects" / place)
    settle(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["a", "b"])
    assert (project / "a").read_text() == "1"


async def test_a_submodule_is_covered(tmp_path: Path) -> None:
    library = repository(tmp_path.resolve() / "library", {"lib.py": "1"})
    project = repository(tmp_path.resolve() / "project", {"main.py": "1"})
    git(project, "submodule", "--quiet", "add", str(library), "vendor/library")
    git(project, "commit", "--quiet", "--message=second")
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["main.py", "vendor/library/lib.py"])
    assert snapshot(project) == before


async def test_files_that_git_does_not_look_at_are_covered(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"assumed": "1", "skipped": "1", "plain": "1"})
    git(project, "update-index", "--assume-unchanged", "assumed")
    git(project, "update-index", "--skip-worktree", "skipped")
    fill(project, {"assumed": "mine", "skipped": "mine"})
    before = snapshot(project)
    baseline = await taken(project)
    await reverted(baseline, project, ["assumed", "skipped", "plain"])
    assert snapshot(project) == before


async def test_a_folder_below_the_top_lists_only_its_own_files(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1", "sub/b": "2"})
    settle(project)
    baseline = Baseline(Roots(project / "sub", []), tmp_path / "baseline.git")
    await baseline.take_snapshot()
    fill(project, {"a": "changed", "sub/b": "changed"})
    assert [change.path.name for change in await baseline.changes()] == ["b"]


async def test_without_hard_links_the_files_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1", "b": "2"})
    settle(project)
    before = snapshot(project)

    link = os.link

    def link_on_one_disk(source: Path | str, target: Path | str, **options: bool) -> None:
        if "/.git/objects/" in str(source):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, target, **options)

    monkeypatch.setattr(os, "link", link_on_one_disk)
    baseline = await taken(project)
    assert baseline.totals.size == 2
    await reverted(baseline, project, ["a", "b"])
    assert snapshot(project) == before


async def test_untracked_files_beyond_the_limit_are_listed_and_not_copied(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"tracked": "1"})
    fill(project, {f"untracked{number}": "1" for number in range(5)})
    settle(project)
    baseline = await taken(project, limits=Limits(untracked_files=3))
    notice = f"2 untracked files in {project} are not in the snapshot, because there are too many"
    assert baseline.notices == [f"{notice}; changes to them cannot be reverted."]
    assert baseline.complete
    fill(project, {"tracked": "2", "untracked0": "2", "untracked4": "2"})
    found = await changes(baseline, project)
    assert found == {"tracked": "modified", "untracked0": "modified", "untracked4": "modified, stays"}
