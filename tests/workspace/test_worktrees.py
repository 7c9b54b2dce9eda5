"""Worktrees of real repositories: creating, inspecting, merging and removing them."""

from __future__ import annotations

import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from acp_tui.workspace.git.git_commands import GitCommandError
from acp_tui.workspace.git.worktree import Worktree, WorktreeLock
from acp_tui.workspace.git.worktree_creation import create_worktree, restore_worktree
from acp_tui.workspace.git.worktree_finishing import (
    MergePlan,
    WorktreeChangedError,
    merge_worktree,
    remove_worktree,
    worktree_status,
)
from tests.workspace.projects import fill, git, repository

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.workspace.git.worktree_creation import CreatedWorktree

FAST_FORWARD = MergePlan(squash=False, message="Add what was missing")
SQUASH = MergePlan(squash=True, message="Everything at once")
FULL_DISK = """#!/bin/sh
{git} "$@" || exit
case "$*" in *"worktree add"*) echo "fatal: No space left on device" >&2; exit 128; esac
"""


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give git a user, and no configuration but that of the repository."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", {"a.txt": "a\n", "src/b.txt": "b\n", ".gitignore": "*.log\n"})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def made(folder: Path, data: Path, name: str | None = "topic", *, trusted: bool = False) -> CreatedWorktree:
    return create_worktree(folder, data, agent="Claude Code", name=name, trusted=trusted)


def worktree_of(folder: Path, data: Path) -> Worktree:
    return made(folder, data).worktree


def commit(folder: Path, name: str, text: str) -> None:
    fill(folder, {name: text})
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", f"--message=Change {name}")


def log(folder: Path, branch: str = "main") -> list[str]:
    return git(folder, "log", "--format=%s", branch).splitlines()


def hook(project: Path, name: str, script: str) -> Path:
    path = project / ".git" / "hooks" / name
    fill(path.parent, {name: f"#!/bin/sh\n{script}\n"})
    path.chmod(0o755)
    return path


# --------------------------------------------------------------------------- creating


def test_the_worktree_has_the_files_of_head_on_a_branch_of_its_own(project: Path, data: Path) -> None:
    head = git(project, "rev-parse", "HEAD").strip()
    found = made(project / "src", data, None)
    worktree = found.worktree
    assert worktree.branch.startswith("acp-tui/claude-code-")
    assert worktree.path.is_relative_to(data / "worktrees")
    assert (worktree.folder / "b.txt").read_text() == "b\n"
    assert worktree.project_folder == project / "src"
    assert (worktree.base, worktree.target) == (head, "main")
    assert found.notices == []
    assert stat.S_IMODE((data / "worktrees").stat().st_mode) == 0o700
    assert Worktree.from_meta({"worktree": worktree.to_dict()}, data) == worktree


def test_what_is_not_in_the_worktree_is_said_in_one_line(project: Path, data: Path) -> None:
    fill(project, {"a.txt": "changed\n", "new.txt": "", "x.log": ""})
    found = made(project, data)
    assert found.notices == [
        "Not in the worktree: uncommitted changes (a.txt); untracked files (new.txt); ignored files (x.log)."
    ]
    assert (found.worktree.path / "a.txt").read_text() == "a\n"


def test_generated_names_do_not_collide(project: Path, data: Path) -> None:
    names = {made(project, data, None).worktree.branch for _ in range(3)}
    assert len(names) == 3


def test_worktrees_can_be_created_at_the_same_time(project: Path, data: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        created = [*threads.map(lambda _: made(project, data, None).worktree, range(4))]
    assert len({worktree.branch for worktree in created}) == 4
    assert all((worktree.path / "a.txt").exists() for worktree in created)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("main", 'The branch "main" exists already; choose another --worktree-name.'),
        ("a..b", '"a..b" cannot be the name of a branch.'),
        ("-f", '"-f" cannot be the name of a branch.'),
        ("", '"" cannot be the name of a branch.'),
    ],
)
def test_a_branch_name_is_checked(project: Path, data: Path, name: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        made(project, data, name)
    assert str(error.value) == sentence


def test_folders_without_a_commit_to_start_from_are_refused(
    project: Path, data: Path, tmp_path: Path
) -> None:
    plain, empty, bare = tmp_path / "plain", tmp_path / "empty", tmp_path / "bare.git"
    plain.mkdir()
    empty.mkdir()
    git(empty, "init", "--quiet")
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    git(project, "submodule", "--quiet", "add", str(repository(tmp_path / "lib", {"l": ""})), "lib")
    (project / "fresh").mkdir()
    worktree = worktree_of(project, data)
    for folder, words in {
        plain: f"{plain} is not in a git repository",
        empty: "The repository has no commit yet",
        bare: f"{bare} is a bare repository",
        project / "lib": f"{project / 'lib'} is a submodule",
        project / "fresh": "A worktree would not contain fresh/",
        project / ".git" / "hooks": "A worktree would not contain .git/hooks/",
        worktree.path: "This folder is already in a worktree of acp-tui",
    }.items():
        with pytest.raises(UserError) as error:
            made(folder, data, "other")
        assert words in str(error.value)


def test_a_worktree_of_the_users_own_can_have_worktrees(project: Path, data: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "--quiet", "-b", "second", str(tmp_path / "second"))
    commit(tmp_path / "second", "only-here", "")
    worktree = worktree_of(tmp_path / "second", data)
    assert (worktree.path / "only-here").exists()
    assert (worktree.target, worktree.repository) == ("second", tmp_path / "second")


def test_submodules_are_said_to_be_empty(project: Path, data: Path, tmp_path: Path) -> None:
    git(project, "submodule", "--quiet", "add", str(repository(tmp_path / "lib", {"l": ""})), "lib")
    git(project, "commit", "--quiet", "--message=lib")
    notices = made(project, data).notices
    assert notices == ["Submodules are empty in the worktree; `git submodule update --init` fills them."]


def test_no_program_of_an_untrusted_repository_runs(project: Path, data: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("post-checkout", "reference-transaction"):
        hook(project, name, f"touch {ran}")
    hook(project, "monitor", f"touch {ran}; exit 1")
    git(project, "config", "core.fsmonitor", ".git/hooks/monitor")
    git(project, "config", "core.untrackedCache", "true")
    ran.unlink(missing_ok=True)
    worktree = worktree_of(project, data)
    assert worktree_status(worktree).is_unchanged
    remove_worktree(worktree)
    assert not ran.exists()


def test_filters_of_an_untrusted_repository_are_named_instead_of_run(
    project: Path, data: Path, tmp_path: Path
) -> None:
    commit(project, ".gitattributes", "*.txt filter=loud\n")
    git(project, "config", "filter.loud.smudge", f"tee {tmp_path / 'ran'}")
    with pytest.raises(
        UserError, match=r"that run programs \(loud\). If you trust the repository, add --trust-folder"
    ):
        made(project, data)
    assert not (tmp_path / "ran").exists()
    worktree = made(project, data, trusted=True).worktree
    assert (tmp_path / "ran").exists()
    remove_worktree(worktree)
    restore_worktree(worktree)
    assert worktree_status(worktree).is_unchanged


def test_a_filter_that_cannot_be_turned_off_stops_git(project: Path, data: Path, tmp_path: Path) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {".gitattributes": "*.txt filter=a=b\n", "c.txt": "c\n"})
    git(project, "config", "filter.a=b.clean", f"tee {tmp_path / 'ran'}")
    with pytest.raises(UserError, match="filters or hooks: its name contains `=`"):
        worktree_status(worktree)
    assert not (tmp_path / "ran").exists()


def test_filters_of_submodules_do_not_run(project: Path, data: Path, tmp_path: Path) -> None:
    lib = repository(tmp_path / "lib", {"l": "x\n", ".gitattributes": "l filter=loud\n"})
    git(project, "submodule", "--quiet", "add", str(lib), "lib")
    git(project, "commit", "--quiet", "--message=lib")
    git(project / "lib", "config", "filter.loud.clean", f"tee {tmp_path / 'ran'}")
    os.utime(project / "lib" / "l", (1, 1))  # git compares the content of a file that was touched
    made(project, data)
    assert not (tmp_path / "ran").exists()


def test_a_failure_leaves_nothing(
    project: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {"bin/git": FULL_DISK.format(git=shutil.which("git"))})
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(UserError) as error:
        made(project, data)
    assert str(error.value) == "The worktree could not be created: No space left on device."
    assert git(project, "branch", "--format=%(refname:short)").split() == ["main"]
    assert len(git(project, "worktree", "list").splitlines()) == 1
    assert not [*(data / "worktrees").glob("*/*")]


def test_a_worktree_is_made_again_on_its_branch(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    commit(worktree.path, "c.txt", "c\n")
    git(project, "worktree", "remove", "--force", str(worktree.path))
    assert restore_worktree(worktree) == worktree
    assert (worktree.path / "c.txt").read_text() == "c\n"
    remove_worktree(worktree)
    commit(project, "later.txt", "")
    assert restore_worktree(worktree).base == git(project, "rev-parse", "HEAD").strip()
    assert (worktree.path / "later.txt").exists()


def test_paths_outside_the_worktrees_are_not_taken_from_metadata(project: Path, data: Path) -> None:
    saved = worktree_of(project, data).to_dict()
    for change in (
        {"path": str(project)},
        {"path": f"{data}/worktrees"},
        {"path": f"{data}/worktrees/shop"},
        {"path": f"{data}/worktrees/shop/../../../shop"},
        {"subfolder": "../.."},
        {"branch": None},
    ):
        assert Worktree.from_meta({"worktree": saved | change}, data) is None
    assert Worktree.from_meta({"worktree": "text"}, data) is None


# --------------------------------------------------------------------------- what would be lost


def test_everything_that_would_be_lost_is_listed(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    commit(worktree.path, "c.txt", "c\n")
    fill(worktree.path, {"a.txt": "2\n", "new/d.txt": "", "new/\x1b[2J": "", "out.log": ""})
    status = worktree_status(worktree)
    assert [title.partition(" ")[2] for title in status.commits] == ["Change c.txt"]
    assert status.changed == ("a.txt",)
    assert sorted(status.untracked) == ["new/d.txt", "new/␛[2J"]
    assert status.ignored == ("out.log",)
    assert status.is_mergeable
    assert not status.is_unchanged


def test_commits_are_found_when_the_folder_is_gone(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    commit(worktree.path, "c.txt", "c\n")
    git(project, "worktree", "remove", "--force", str(worktree.path))
    status = worktree_status(worktree)
    assert (len(status.commits), status.is_mergeable) == (1, False)


def test_commits_on_another_branch_of_the_worktree_count(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    git(worktree.path, "checkout", "--quiet", "-b", "agents-own")
    commit(worktree.path, "c.txt", "c\n")
    status = worktree_status(worktree)
    assert len(status.commits) == 1
    assert status.obstacle.endswith("cannot be merged: instead of topic, agents-own is checked out there.")


def test_a_repository_inside_cannot_be_merged(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    repository(worktree.path / "vendor", {"v": ""})
    obstacle = worktree_status(worktree).obstacle
    assert obstacle == "The worktree cannot be merged: vendor/ is a git repository of its own."


def test_removing_deletes_folder_and_branch(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {"new.txt": ""})
    remove_worktree(worktree)
    assert not worktree.path.exists()
    assert git(project, "branch", "--format=%(refname:short)").split() == ["main"]


# --------------------------------------------------------------------------- merging


def merge(worktree: Worktree, plan: MergePlan) -> str:
    return merge_worktree(worktree, plan, worktree_status(worktree))


def test_a_fast_forward_commits_the_rest_and_updates_the_checkout(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    commit(worktree.path, "c.txt", "c\n")
    fill(worktree.path, {"d.txt": "d\n"})
    assert merge(worktree, FAST_FORWARD) == "Merged 2 commits into main."
    assert log(project) == ["Add what was missing", "Change c.txt", "first"]
    assert (project / "d.txt").read_text() == "d\n"
    assert git(project, "status", "--porcelain") == ""
    assert worktree_status(worktree).is_unchanged


def test_a_squash_makes_one_commit_on_top_of_new_ones(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    commit(worktree.path, "c.txt", "c\n")
    fill(worktree.path, {"d.txt": "d\n"})
    commit(project, "other.txt", "")
    with pytest.raises(UserError, match="main has new commits"):
        merge(worktree, FAST_FORWARD)
    assert merge(worktree, SQUASH) == "Merged one commit into main."
    assert log(project) == ["Everything at once", "Change other.txt", "first"]
    assert (project / "c.txt").read_text() + (project / "d.txt").read_text() == "c\nd\n"
    assert worktree_status(worktree).is_unchanged


def test_a_squash_of_changes_that_the_target_contains_makes_no_commit(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    for folder in (worktree.path, project):
        commit(folder, "c.txt", "c\n")
    assert merge(worktree, SQUASH) == "Nothing to merge: main already contains these changes."
    assert log(project) == ["Change c.txt", "first"]
    assert worktree_status(worktree).is_unchanged


def test_a_branch_that_is_checked_out_nowhere_is_merged_into(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {"c.txt": "c\n"})
    git(project, "checkout", "--quiet", "-b", "elsewhere")
    merge(worktree, FAST_FORWARD)
    assert log(project) == ["Add what was missing", "first"]
    assert not (project / "c.txt").exists()


def test_conflicts_change_nothing(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {"a.txt": "mine\n", "new.txt": "n\n"})
    commit(project, "a.txt", "theirs\n")
    before = worktree_status(worktree)
    with pytest.raises(UserError, match="both branches have changed the same lines of a"):
        merge(worktree, SQUASH)
    assert worktree_status(worktree).commits == before.commits
    assert (worktree.path / "a.txt").read_text() == "mine\n"
    assert worktree_status(worktree).untracked == ("new.txt",)
    assert log(project) == ["Change a.txt", "first"]


@pytest.mark.parametrize("plan", [FAST_FORWARD, SQUASH])
@pytest.mark.parametrize("name", ["a.txt", "new.txt", "x.log"])
def test_uncommitted_work_in_the_checkout_is_never_overwritten(
    project: Path, data: Path, plan: MergePlan, name: str
) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {name: "agent\n"})
    git(worktree.path, "add", "--force", name)
    fill(project, {name: "user\n"})
    with pytest.raises(GitCommandError, match="main was not changed") as error:
        merge(worktree, plan)
    assert name in error.value.output
    assert (project / name).read_text() == "user\n"
    assert (worktree.path / name).read_text() == "agent\n"
    assert log(project) == ["first"]
    assert log(worktree.path, "topic") == ["first"]


@pytest.mark.parametrize("plan", [FAST_FORWARD, SQUASH])
def test_a_hook_that_refuses_is_quoted_and_nothing_changes(
    project: Path, data: Path, plan: MergePlan
) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {"new.txt": "n\n"})
    hook(project, "pre-commit", "echo 'lint: new.txt has no title'; echo rewritten > a.txt; exit 1")
    with pytest.raises(GitCommandError) as error:
        merge(worktree, plan)
    assert "lint: new.txt has no title" in error.value.output
    assert log(worktree.path, "topic") == log(project) == ["first"]
    assert worktree_status(worktree).untracked == ("new.txt",)


def test_commit_hooks_run_once_and_see_the_message(project: Path, data: Path, tmp_path: Path) -> None:
    worktree = worktree_of(project, data)
    commit(worktree.path, "c.txt", "c\n")
    fill(worktree.path, {"d.txt": "d\n"})
    hook(project, "commit-msg", f'cat "$1" >> {tmp_path / "messages"}')
    merge(worktree, SQUASH)
    assert (tmp_path / "messages").read_text() == "Everything at once\n"


def test_a_merge_of_something_else_than_was_shown_is_refused(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {"c.txt": "c\n"})
    shown = worktree_status(worktree)
    fill(worktree.path, {"c.txt": "cc\n"})
    with pytest.raises(WorktreeChangedError):
        merge_worktree(worktree, FAST_FORWARD, shown)
    assert log(project) == ["first"]


def test_a_worktree_in_use_is_not_removed(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    first, second = WorktreeLock(worktree.path), WorktreeLock(worktree.path)
    assert first.is_shared()
    assert second.is_shared()
    second.release()
    assert not first.is_shared()
    with pytest.raises(UserError, match="Another conversation is using the worktree"):
        remove_worktree(worktree)
    first.release()
    remove_worktree(worktree)
    assert not worktree.path.exists()


def test_two_conversations_that_check_at_once_see_each_other(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    locks = WorktreeLock(worktree.path), WorktreeLock(worktree.path)

    start = Barrier(2)

    def count_shared(lock: WorktreeLock) -> int:
        start.wait()
        return sum(lock.is_shared() for _ in range(3000))

    with ThreadPoolExecutor() as threads:
        assert list(threads.map(count_shared, locks)) == [3000, 3000]


def test_a_change_of_a_file_with_an_invisible_name_is_noticed(project: Path, data: Path) -> None:
    worktree = worktree_of(project, data)
    fill(worktree.path, {"odd\x1bname.txt": "c\n"})
    shown = worktree_status(worktree)
    fill(worktree.path, {"odd\x1bname.txt": "changed\n"})
    assert worktree_status(worktree) != shown
