"""What a baseline covers, what it keeps when it is named, and what it says about the rest."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.errors import UserError
from acp_tui.workspace.baseline.baseline import Baseline
from acp_tui.workspace.baseline.file_change import Limits
from acp_tui.workspace.files.open_folder import Roots
from tests.support.waiting import until
from tests.workspace.projects import changes, fill, git, repository, revert_all, snapshot, taken

if TYPE_CHECKING:
    from collections.abc import Iterable

ANNOUNCED_ONLY = "Changes cannot be reverted, and only files that the agent reports are listed"
SOON = 10.0
"""Seconds after which a git that hangs is given up: long for a busy machine, short for a test that fails."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(tmp_path.resolve() / "project", {"main.py": "old"})


def overwrite(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).write_text("overwritten")


# ---- what is covered


async def test_tracked_and_untracked_files_are_covered_and_ignored_ones_are_not(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"tracked": "1", ".gitignore": "*.log\nsecret/\n"})
    names = {"tracked": "1", "untracked": "2", "a.log": "3", "sub/b.log": "4", "secret/deep/c": "5"}
    fill(project, dict(names))
    baseline = await taken(project)
    overwrite(project, names)
    assert await changes(baseline, project) == {"tracked": "modified", "untracked": "modified"}


async def test_a_tracked_file_is_covered_in_spite_of_an_ignore_rule(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"kept.log": "1", "dist/bundle.js": "2"})
    fill(project, {".gitignore": "*.log\n", "other.log": "3"})
    baseline = await taken(project)
    overwrite(project, ["kept.log", "other.log", "dist/bundle.js"])
    assert await changes(baseline, project) == {"kept.log": "modified", "dist/bundle.js": "modified"}


async def test_untracked_dependencies_and_products_are_left_out(project: Path) -> None:
    names = {
        "node_modules/x/index.js": "1",
        "sub/.venv/lib/y.py": "2",
        "target/z": "3",
        "a/__pycache__/m": "4",
    }
    fill(project, dict(names))
    baseline = await taken(project)
    assert baseline.totals.files == 1
    overwrite(project, names)
    assert await baseline.changes() == []


@pytest.mark.parametrize("configured", [False, True])
async def test_what_the_user_ignores_everywhere_is_ignored(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configured: bool
) -> None:
    config = fill(tmp_path / "config", {"git/ignore": "*.swp\n", "ignored": "*.swp\n"})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    if configured:
        monkeypatch.setenv("HOME", str(config))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config / "gitconfig"))
        fill(config, {"gitconfig": "[core]\nexcludesFile = ~/ignored\n", "git/ignore": ""})
    fill(project, {"x.swp": "1"})
    baseline = await taken(project)
    overwrite(project, ["x.swp"])
    assert await baseline.changes() == []


async def test_in_a_folder_of_a_repository_the_rules_of_the_whole_repository_hold(tmp_path: Path) -> None:
    top = repository(tmp_path.resolve() / "top", {"sub/main.py": "1", ".gitignore": "/sub/made/\n*.log\n"})
    fill(
        top, {".git/info/exclude": "*.tmp\n", "sub/made/x": "2", "sub/a.log": "3", "sub/b.tmp": "4", "y": "5"}
    )
    baseline = await taken(top / "sub")
    overwrite(top, ["sub/main.py", "sub/made/x", "sub/a.log", "sub/b.tmp", "y"])
    fill(top, {"sub/new.py": "6", "other/new.py": "7"})
    assert await changes(baseline, top) == {"sub/main.py": "modified", "sub/new.py": "added"}
    await revert_all(baseline)
    assert (top / "sub" / "main.py").read_text() == "1"


async def test_a_folder_that_is_ignored_as_a_whole_is_covered_all_the_same(tmp_path: Path) -> None:
    """As below a home directory that is itself a repository and ignores everything."""
    home = repository(tmp_path.resolve() / "home", {".gitignore": "*\n"})
    project = fill(home / "work" / "project", {"main.py": "old", "a.log": "1", ".gitignore": "*.log\n"})
    baseline = await taken(project)
    overwrite(project, ["main.py", "a.log"])
    assert await changes(baseline, project) == {"main.py": "modified"}


async def test_nested_repositories_are_covered_and_their_own_git_is_not(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"main.py": "1"})
    repository(project / "libs" / "inner", {"inner.py": "2", ".gitignore": "*.log\n"})
    repository(project / "libs" / "inner" / "innermost", {"deep.py": "3"})
    fill(project, {"libs/inner/a.log": "4"})
    baseline = await taken(project)
    assert await baseline.changes() == []
    overwrite(project, ["libs/inner/inner.py", "libs/inner/a.log", "libs/inner/innermost/deep.py"])
    git(project / "libs" / "inner", "commit", "--quiet", "--all", "--message=second")
    expected = {"libs/inner/inner.py": "modified", "libs/inner/innermost/deep.py": "modified"}
    assert await changes(baseline, project) == expected
    shutil.rmtree(project / "libs" / "inner" / ".git")
    assert await changes(baseline, project) == expected
    shutil.rmtree(project / "libs")
    await revert_all(baseline)
    assert (project / "libs" / "inner" / "innermost" / "deep.py").read_text() == "3"


async def test_submodules_and_further_work_trees_are_covered(tmp_path: Path) -> None:
    library = repository(tmp_path.resolve() / "library", {"lib.py": "1"})
    main = repository(tmp_path.resolve() / "main", {"main.py": "2"})
    git(main, "submodule", "--quiet", "add", str(library), "sub")
    git(main, "commit", "--quiet", "--all", "--message=second")
    git(main, "worktree", "add", "--quiet", str(tmp_path.resolve() / "tree"))
    baseline = await taken(main, tmp_path.resolve() / "tree")
    overwrite(tmp_path.resolve(), ["main/sub/lib.py", "main/main.py", "tree/main.py"])
    assert await changes(baseline, tmp_path.resolve()) == {
        "main/main.py": "modified",
        "main/sub/lib.py": "modified",
        "tree/main.py": "modified",
    }


async def test_a_repository_made_or_cloned_meanwhile_is_listed_file_by_file(tmp_path: Path) -> None:
    project = fill(tmp_path.resolve() / "project", {"sub/main.py": "1", "top.py": "2"})
    library = repository(tmp_path.resolve() / "library", {"lib.py": "3"})
    baseline = await taken(project)
    repository(project / "sub", {"new.py": "4"})
    git(project, "clone", "--quiet", str(library), "cloned")
    git(project, "init", "--quiet")
    assert await changes(baseline, project) == {"sub/new.py": "added", "cloned/lib.py": "added"}
    overwrite(project, ["sub/main.py"])
    await revert_all(baseline)
    assert await baseline.changes() == []
    assert (project / "sub" / "main.py").read_text() == "1"


async def test_additional_roots_are_covered_also_inside_one_another(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    names = {
        "a/main.py": "1",
        "a/node_modules/mine/x.js": "2",
        "a/b/y.py": "3",
        "c/z.py": "4",
        "a/ignored/i": "5",
    }
    fill(base, {**names, "a/.gitignore": "/ignored/\n"})
    baseline = await taken(base / "a", base / "a" / "node_modules" / "mine", base / "a" / "b", base / "c")
    assert await baseline.changes() == []
    overwrite(base, names)
    fill(base, {"a/b/new.py": ""})
    assert await changes(baseline, base) == {
        "a/main.py": "modified",
        "a/node_modules/mine/x.js": "modified",
        "a/b/y.py": "modified",
        "a/b/new.py": "added",
        "c/z.py": "modified",
    }
    await revert_all(baseline)
    assert await baseline.changes() == []


async def test_our_own_files_are_never_part_of_it(tmp_path: Path, home: Path) -> None:
    base = fill(tmp_path.resolve() / "base", {"main.py": "1"})
    baseline = Baseline(Roots(tmp_path), home / "data" / "sessions" / "1" / "baseline.git")
    await baseline.take_snapshot()
    fill(home, {"data/sessions/1/wire.jsonl": "{}", "state/rules.json": "{}", "config/config.toml": ""})
    (base / "main.py").unlink()
    assert await changes(baseline, base) == {"main.py": "deleted"}


async def test_what_is_copied_is_for_nobody_else_to_read(project: Path, tmp_path: Path) -> None:
    await taken(project)
    modes = [
        Path(place, name).lstat().st_mode
        for place, folders, names in os.walk(tmp_path / "baseline.git")
        for name in [*folders, *names]
    ]
    assert not any(
        stat.S_IMODE(mode) & 0o077 for mode in [*modes, (tmp_path / "baseline.git").stat().st_mode]
    )


# ---- what is too much


async def test_a_large_file_is_listed_when_it_changes_and_cannot_be_reverted(project: Path) -> None:
    fill(project, {"large.bin": b"x" * 2000, "just.bin": b"x" * 1000, "steady.bin": b"x" * 2000})
    baseline = await taken(project, limits=Limits(file_size=1000))
    assert await baseline.changes() == []
    fill(project, {"large.bin": b"y" * 2000, "just.bin": b"y" * 3000})
    assert await changes(baseline, project) == {"large.bin": "modified, stays", "just.bin": "modified"}
    with pytest.raises(UserError, match=r"large.bin cannot be reverted: it was larger than 0.001 MB\.$"):
        await baseline.revert(project / "large.bin")
    (project / "large.bin").unlink()
    assert await changes(baseline, project) == {"large.bin": "deleted, stays", "just.bin": "modified"}
    await baseline.revert(project / "just.bin")
    assert (project / "just.bin").read_bytes() == b"x" * 1000


@pytest.mark.parametrize(
    ("limits", "words"),
    [(Limits(files=3), "more than 3 files"), (Limits(total_size=1000), "more than 1e-06 GB")],
)
async def test_a_folder_too_large_is_said_and_only_what_is_named_is_kept(
    project: Path, tmp_path: Path, limits: Limits, words: str
) -> None:
    fill(project, {f"file{number}": "x" * 900 for number in range(10)})
    other = fill(tmp_path.resolve() / "other", {"small": "1"})
    baseline = await taken(project, other, limits=limits)
    assert len(baseline.notices) == 1
    assert str(project) in baseline.notices[0]
    assert words in baseline.notices[0]
    await baseline.copy_before_change([project / "file1"])
    overwrite(project, ["file1", "file2"])
    overwrite(other, ["small"])
    assert await changes(baseline, tmp_path.resolve()) == {
        "project/file1": "modified",
        "other/small": "modified",
    }
    await revert_all(baseline)
    assert (project / "file1").read_text() == "x" * 900


async def test_what_was_copied_of_a_folder_too_large_is_deleted(project: Path, tmp_path: Path) -> None:
    fill(project, {f"file{number}": os.urandom(1_000_000) for number in range(6)})
    await taken(project, limits=Limits(total_size=4_000_000))
    assert sum(path.stat().st_size for path in (tmp_path / "baseline.git").rglob("*")) < 100_000


async def test_progress_and_totals_are_told(project: Path) -> None:
    fill(project, {f"file{number}": "12345" for number in range(9)})
    told: list[tuple[int, int]] = []
    baseline = Baseline(Roots(project), project.parent / "baseline.git")
    await baseline.take_snapshot(lambda done, total: told.append((done, total)))
    await asyncio.sleep(0)  # what the thread has scheduled runs
    assert told[0] == (0, 10)
    assert told[-1] == (10, 10)
    assert (baseline.totals.files, baseline.totals.size) == (10, 48)
    assert baseline.seconds > 0


async def test_an_empty_folder_is_fine(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "empty"
    project.mkdir()
    baseline = await taken(project)
    fill(project, {"new": "1"})
    assert await changes(baseline, project) == {"new": "added"}


# ---- what is named


async def test_an_ignored_file_is_kept_when_it_is_named_before_it_changes(project: Path) -> None:
    fill(project, {".gitignore": ".env\nout.log\n", ".env": b"KEY=1\r\n", "out.log": "1"})
    (project / ".env").chmod(0o600)
    before = snapshot(project)
    baseline = await taken(project)
    await baseline.copy_before_change([project / ".env"])
    assert await baseline.changes() == []
    overwrite(project, [".env", "out.log"])
    await baseline.copy_before_change([project / ".env"])  # the first copy is the one that counts
    assert await changes(baseline, project) == {".env": "modified"}
    assert await baseline.original_content(project / ".env") == b"KEY=1\r\n"
    (project / ".env").unlink()
    assert await changes(baseline, project) == {".env": "deleted"}
    await revert_all(baseline)
    overwrite(project, [])
    (project / "out.log").write_text("1")
    assert snapshot(project) == before


async def test_a_file_outside_is_kept_when_it_is_named(project: Path, tmp_path: Path) -> None:
    outside = fill(tmp_path.resolve() / "outside", {"notes": "old", "run": "x"})
    (project / "link").symlink_to(outside / "notes")
    baseline = await taken(project)
    await baseline.copy_before_change([str(project / "link"), outside / "new" / "file", str(outside / "run")])
    (project / "link").write_text("new")
    (outside / "run").chmod(0o755)
    fill(outside, {"new/file": "made"})
    assert await changes(baseline, outside) == {"notes": "modified", "run": "mode", "new/file": "added"}
    await revert_all(baseline)
    assert await baseline.changes() == []
    assert (outside / "notes").read_text() == "old"
    assert not (outside / "new" / "file").exists()


async def test_a_new_file_that_is_ignored_is_listed_when_it_is_named(project: Path) -> None:
    fill(project, {".gitignore": "*.log\n"})
    baseline = await taken(project)
    await baseline.copy_before_change([project / "before.log"])
    fill(project, {"before.log": "1", "after.log": "2", "unnamed.log": "3", "dist/made.js": "4"})
    await baseline.mark_changed([project / "after.log", project / "dist" / "made.js"])
    assert await changes(baseline, project) == {
        "before.log": "added",
        "after.log": "added",
        "dist/made.js": "added",
    }
    await revert_all(baseline)
    assert await baseline.changes() == []
    assert (project / "unnamed.log").exists()


async def test_what_is_named_too_late_is_listed_and_cannot_be_reverted(project: Path, tmp_path: Path) -> None:
    fill(project, {".gitignore": "*.log\n", "a.log": "1", "b.log": "2"})
    baseline = await taken(project)
    overwrite(project, ["a.log", "main.py"])
    (project / "b.log").unlink()
    await baseline.mark_changed(
        [project / "a.log", project / "b.log", project / "main.py", tmp_path.resolve() / "elsewhere"]
    )
    assert await changes(baseline, tmp_path.resolve()) == {
        "project/a.log": "modified, stays",
        "project/b.log": "deleted, stays",
        "project/main.py": "modified",
        "elsewhere": "deleted, stays",
    }
    with pytest.raises(UserError, match="it was changed before acp-tui could copy it"):
        await baseline.revert(project / "a.log")


async def test_a_file_named_in_time_is_not_too_late_when_it_is_named_again(project: Path) -> None:
    fill(project, {".gitignore": "*.log\n", "a.log": "1"})
    baseline = await taken(project)
    await baseline.copy_before_change([project / "a.log"])
    overwrite(project, ["a.log"])
    await baseline.mark_changed([project / "a.log"])
    assert await changes(baseline, project) == {"a.log": "modified"}


async def test_a_large_or_odd_file_outside_is_listed_and_cannot_be_reverted(
    project: Path, tmp_path: Path
) -> None:
    outside = fill(tmp_path.resolve() / "outside", {"large": "x" * 2000})
    os.mkfifo(outside / "pipe")
    baseline = await taken(project, limits=Limits(file_size=1000))
    await baseline.copy_before_change([outside / "large", outside / "pipe"])
    assert await baseline.changes() == []
    fill(outside, {"large": "y" * 2000})
    assert await changes(baseline, outside) == {"large": "modified, stays"}


async def test_names_that_lead_nowhere_are_passed_over(project: Path) -> None:
    baseline = await taken(project)
    odd = ["relative", "", "/with\0nul", "/half\ud83d", str(project), str(project / "main.py" / "below")]
    await baseline.copy_before_change(odd)
    await baseline.mark_changed(odd)
    assert await baseline.changes() == []


async def test_a_file_never_named_and_not_covered_cannot_be_reverted(project: Path, tmp_path: Path) -> None:
    baseline = await taken(project)
    with pytest.raises(UserError, match="it is not part of the snapshot"):
        await baseline.revert(tmp_path / "acp-tui-home" / "x")


# ---- what was never listed


@pytest.mark.parametrize("name", [".git/HEAD", ".git/commondir", "sub/.git/HEAD"])
async def test_an_overwritten_file_of_a_git_directory_is_put_back_and_not_deleted(
    tmp_path: Path, name: str
) -> None:
    project = repository(tmp_path.resolve() / "project", {"main.py": "1", "sub/b.py": "2"})
    fill(project, {".git/commondir": "old", "sub/.git/HEAD": "old"})
    old = (project / name).read_bytes()
    baseline = await taken(project)
    await baseline.copy_before_change([project / name])
    overwrite(project, [name])
    assert await changes(baseline, project) == {name: "modified"}
    await revert_all(baseline)
    assert (project / name).read_bytes() == old


async def test_a_file_of_a_git_directory_that_is_named_too_late_stays(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"main.py": "1"})
    baseline = await taken(project)
    overwrite(project, [".git/HEAD"])
    await baseline.mark_changed([project / ".git" / "HEAD"])
    assert await changes(baseline, project) == {".git/HEAD": "modified, stays"}
    with pytest.raises(UserError, match="it was changed before acp-tui could copy it"):
        await baseline.revert(project / ".git" / "HEAD")


async def test_files_of_a_folder_that_could_not_be_read_are_unknown_and_stay(unprivileged: Path) -> None:
    project = fill(unprivileged / "project", {"main.py": "1", "data/old": "2", "data/deep/older": "3"})
    (project / "data").chmod(0)
    baseline = await taken(project)
    (project / "data").chmod(0o700)
    overwrite(project, ["data/old"])
    fill(project, {"data/new": "4"})
    assert await changes(baseline, project) == {"data/old": "unknown, stays", "data/new": "unknown, stays"}
    await revert_all(baseline)
    with pytest.raises(UserError, match=r"data/old cannot be reverted: it is not part of the snapshot"):
        await baseline.revert(project / "data" / "old")
    assert (project / "data" / "old").read_text() == "overwritten"


async def test_a_file_named_in_a_folder_that_could_not_be_read_is_put_back(unprivileged: Path) -> None:
    project = fill(unprivileged / "project", {"data/old": "2"})
    (project / "data").chmod(0)
    baseline = await taken(project)
    (project / "data").chmod(0o700)
    await baseline.copy_before_change([project / "data" / "old"])
    overwrite(project, ["data/old"])
    assert await changes(baseline, project) == {"data/old": "modified"}
    await revert_all(baseline)
    assert (project / "data" / "old").read_text() == "2"


async def test_a_file_that_took_the_place_of_a_pipe_stays(project: Path) -> None:
    os.mkfifo(project / "pipe")
    baseline = await taken(project)
    (project / "pipe").unlink()
    overwrite(project, ["pipe"])
    assert await changes(baseline, project) == {"pipe": "unknown, stays"}


async def test_an_ignored_file_stays_when_its_folder_becomes_a_repository(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {".gitignore": "*.db\n", "main.py": "1"})
    fill(project, {"data/old.db": "2"})
    baseline = await taken(project)
    overwrite(project, ["data/old.db"])
    repository(project / "data", {})
    assert await changes(baseline, project) == {"data/old.db": "unknown, stays"}
    await revert_all(baseline)
    assert (project / "data" / "old.db").read_text() == "overwritten"


async def test_an_ignored_file_stays_when_the_rule_is_taken_away(project: Path) -> None:
    fill(project, {".gitignore": "*.db\n", "old.db": "2", "steady.db": "3"})
    baseline = await taken(project)
    overwrite(project, ["old.db", ".gitignore"])
    assert await changes(baseline, project) == {"old.db": "unknown, stays", ".gitignore": "modified"}


# ---- what git would wait for


def git_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, action: str) -> None:
    """Put a git first in PATH that does something else for one of its commands."""
    real = shutil.which("git")
    script = f'#!/bin/sh\ncase "$*" in *"{command}"*) {action};; esac\nexec {real} "$@"\n'
    program = fill(tmp_path / "bin", {"git": script}) / "git"
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "sub/.gitignore", "sub/.gitattributes"])
async def test_a_pipe_that_git_would_read_from_changes_nothing(tmp_path: Path, name: str) -> None:
    project = repository(tmp_path.resolve() / "project", {"main.py": "1", "sub/steady.py": "2"})
    baseline = await taken(project, limits=Limits(git_seconds=SOON))
    os.mkfifo(project / name)
    fill(project, {"main.py": "changed", "new.py": "3"})
    (project / "sub" / "steady.py").touch()
    assert await changes(baseline, project) == {"main.py": "modified", "new.py": "added"}
    (project / "sub" / "steady.py").chmod(0o755)
    assert (await changes(baseline, project))["sub/steady.py"] == "mode"


async def test_a_folder_with_a_pipe_that_git_would_read_from_is_covered(project: Path) -> None:
    os.mkfifo(project / ".gitignore")
    baseline = await taken(project, limits=Limits(listing_seconds=SOON, git_seconds=SOON))
    assert baseline.notices == []
    overwrite(project, ["main.py"])
    assert await changes(baseline, project) == {"main.py": "modified"}


async def test_a_pipe_in_a_folder_above_changes_nothing(tmp_path: Path) -> None:
    top = repository(tmp_path.resolve() / "top", {"sub/main.py": "1"})
    baseline = await taken(top / "sub", limits=Limits(git_seconds=SOON))
    os.mkfifo(top / ".gitattributes")
    overwrite(top, ["sub/main.py"])
    assert await changes(baseline, top) == {"sub/main.py": "modified"}


async def test_a_git_that_takes_too_long_is_given_up_and_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_that(tmp_path, monkeypatch, "diff-files", "exec sleep 600")
    baseline = await taken(project, limits=Limits(git_seconds=1))
    with pytest.raises(UserError, match="cannot be listed: git took longer than"):
        await baseline.changes()


async def test_a_git_that_does_not_read_files_is_given_up_and_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_that(tmp_path, monkeypatch, "fast-import", "exec sleep 600")
    fill(project, {"large.txt": "x" * 1_000_000})  # more than fits in a pipe
    baseline = await taken(project, limits=Limits(git_seconds=1))
    assert "git took longer than 1 seconds" in baseline.notices[0]


async def test_a_git_that_hangs_is_ended_with_the_baseline(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "pid"
    git_that(tmp_path, monkeypatch, "update-index -q", f'echo $$ >"{mark}"; exec sleep 600')
    baseline = await taken(project)
    listing = asyncio.create_task(baseline.changes())
    await until(lambda: mark.exists() and mark.read_text())
    pid = int(mark.read_text())
    await baseline.delete()
    with pytest.raises(UserError, match="cannot be listed: it was stopped"):
        await listing
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# ---- without git, in the middle, at the end


async def test_without_git_there_is_a_notice_and_named_changes_are_listed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    baseline = await taken(project)
    assert baseline.notices == [f"{ANNOUNCED_ONLY}: git is not installed."]
    assert not baseline.complete
    await baseline.copy_before_change([project / "main.py", project / "new.py"])
    assert await baseline.changes() == []
    overwrite(project, ["main.py", "new.py"])
    assert await changes(baseline, project) == {"main.py": "modified, stays", "new.py": "added"}
    with pytest.raises(UserError, match=r"main.py cannot be reverted: git is not installed\.$"):
        await baseline.revert(project / "main.py")


async def test_a_git_that_fails_is_a_notice_with_its_own_words(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        fill(tmp_path / "bin", {"git": "#!/bin/sh\necho 'xcrun: no developer tools' >&2\nexit 69\n"}) / "git"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    baseline = await taken(project)
    assert baseline.notices == [f"{ANNOUNCED_ONLY}: xcrun: no developer tools."]


async def test_a_folder_that_takes_too_long_to_list_is_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    script = f'#!/bin/sh\ncase "$*" in *ls-files*--others*) exec sleep 600;; esac\nexec {real} "$@"\n'
    program = fill(tmp_path / "bin", {"git": script}) / "git"
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    baseline = await taken(project, limits=Limits(listing_seconds=0.05))
    assert len(baseline.notices) == 1
    assert baseline.notices[0].startswith(
        f"{project} could not be copied (git took longer than 0.05 seconds)"
    )


async def test_a_baseline_that_is_cancelled_ends_its_git(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    mark = tmp_path / "pid"
    os.mkfifo(mark)
    script = (
        f'#!/bin/sh\ncase "$*" in *ls-files*) echo $$ >"{mark}"; exec sleep 600;; esac\nexec {real} "$@"\n'
    )
    program = fill(tmp_path / "bin", {"git": script}) / "git"
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    baseline = Baseline(Roots(project), tmp_path / "baseline.git")
    task = asyncio.create_task(baseline.take_snapshot())
    pid = int(await asyncio.to_thread(mark.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await baseline.delete()  # waits until the work has ended
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not (tmp_path / "baseline.git").exists()


async def test_what_is_forgotten_is_deleted(project: Path, tmp_path: Path) -> None:
    baseline = await taken(project)
    overwrite(project, ["main.py"])
    await baseline.delete()
    assert not (tmp_path / "baseline.git").exists()
    assert await baseline.changes() == []
    await baseline.delete()


async def test_what_an_earlier_session_left_in_the_directory_is_gone(project: Path, tmp_path: Path) -> None:
    fill(tmp_path / "baseline.git", {"index.0": "rubbish", "HEAD": "rubbish", "config": "[core"})
    baseline = await taken(project)
    assert baseline.notices == []
    overwrite(project, ["main.py"])
    assert await changes(baseline, project) == {"main.py": "modified"}


class LateFirst(ThreadPoolExecutor):
    """Threads of which the first begins its work only when the second has begun."""

    def __init__(self) -> None:
        super().__init__(2)
        self._is_first = True
        self._second_begun = threading.Event()

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        is_first, self._is_first = self._is_first, False

        def run() -> Any:
            if is_first:
                self._second_begun.wait(30)
            else:
                self._second_begun.set()
            return work(*args, **kwargs)

        return super().submit(run)


async def test_a_file_that_is_announced_before_the_snapshot_begins_can_be_reverted(project: Path) -> None:
    asyncio.get_running_loop().set_default_executor(LateFirst())
    baseline = Baseline(Roots(project), project.parent / "baseline.git")
    taking = asyncio.create_task(baseline.take_snapshot())
    await asyncio.sleep(0)
    await baseline.copy_before_change([project / "main.py"])
    await taking
    overwrite(project, ["main.py"])
    await baseline.revert(project / "main.py")
    assert await baseline.changes() == []


async def test_many_calls_at_once_do_not_disturb_each_other(project: Path) -> None:
    fill(project, {f"file{number}": "old" for number in range(20)})
    baseline = Baseline(Roots(project), project.parent / "baseline.git")
    taking = asyncio.create_task(baseline.take_snapshot())
    await asyncio.sleep(0)
    await asyncio.gather(*(baseline.copy_before_change([project / f"file{number}"]) for number in range(5)))
    await taking
    overwrite(project, [f"file{number}" for number in range(20)])
    listed = await asyncio.gather(*(baseline.changes() for _ in range(4)))
    assert all(len(found) == 20 for found in listed)
    await asyncio.gather(*(baseline.revert(change.path) for change in listed[0]))
    assert await baseline.changes() == []
