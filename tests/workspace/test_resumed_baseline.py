"""A baseline that is used again: after acp-tui was closed or killed, in a fork, and in a worktree."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from acp_tui.workspace.baseline.baseline import Baseline
from acp_tui.workspace.baseline.folder_snapshot import worktree_base
from acp_tui.workspace.baseline.turn_history import HistoryLimits, TurnHistory
from acp_tui.workspace.files.open_folder import Roots
from tests.support.waiting import wait_until
from tests.workspace.projects import changes, fill, git, repository, revert_all, snapshot, taken

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {"a.txt": "a0\n", "sub/b.txt": "b0\n", ".gitignore": "ignored\n"}
    return repository(tmp_path.resolve() / "project", files)


async def resumed(project: Path, *roots: Path, copy_of: Path | None = None) -> Baseline:
    """Use the saved baseline of a project, or a copy of it, as the next run of acp-tui does."""
    name = "fork.git" if copy_of is not None else "baseline.git"
    baseline = Baseline(Roots(project, roots), project.parent / name)
    assert await baseline.resume(copy_of)
    return baseline


def change_everything(project: Path) -> None:
    fill(project, {"a.txt": "a1\n", "new.txt": "new\n", "untracked.txt": "u1\n"})
    (project / "sub" / "b.txt").unlink()


EVERYTHING = {"a.txt": "modified", "new.txt": "added", "untracked.txt": "modified", "sub/b.txt": "deleted"}


async def test_changes_before_and_after_the_end_of_acp_tui_are_listed_and_reverted(project: Path) -> None:
    fill(project, {"untracked.txt": "u0\n"})
    before = snapshot(project)
    baseline = await taken(project)
    fill(project, {"a.txt": "a1\n"})
    baseline.stop()
    change_everything(project)
    again = await resumed(project)
    assert await changes(again, project) == EVERYTHING
    await revert_all(again)
    assert snapshot(project) == before


async def test_a_folder_without_git_a_nested_repository_and_odd_names_are_kept(tmp_path: Path) -> None:
    folder = fill(tmp_path.resolve() / "plain", {"x.txt": "x0", os.fsdecode(b"\xff.txt"): "odd"})
    repository(folder / "nested", {"n.txt": "n0"})
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o750)
    before = snapshot(folder)
    (await taken(folder)).stop()
    fill(folder, {"x.txt": "x1", "nested/n.txt": "n1", os.fsdecode(b"\xff.txt"): "changed"})
    (folder / "run.sh").unlink()
    again = await resumed(folder)
    await revert_all(again)
    assert snapshot(folder) == before


async def test_files_that_were_announced_stay_known(project: Path) -> None:
    fill(project, {"ignored": "secret 0"})
    baseline = await taken(project)
    await baseline.copy_before_change([project / "ignored"])
    fill(project, {"ignored": "secret 1"})
    baseline.stop()
    again = await resumed(project)
    assert await changes(again, project) == {"ignored": "modified"}
    await revert_all(again)
    assert (project / "ignored").read_text() == "secret 0"


async def test_a_commit_in_between_changes_nothing(project: Path) -> None:
    (await taken(project)).stop()
    change_everything(project)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=later")
    git(project, "gc", "--quiet", "--prune=now")
    again = await resumed(project)
    assert await changes(again, project) == EVERYTHING | {"untracked.txt": "added"}


async def test_a_lock_that_a_killed_git_left_is_removed(project: Path) -> None:
    (await taken(project)).stop()
    (project.parent / "baseline.git" / "index.0.lock").touch()
    fill(project, {"a.txt": "a1\n"})
    assert await changes(await resumed(project), project) == {"a.txt": "modified"}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 1, "commit": null}', b"\xff"])
async def test_a_damaged_state_is_not_used(project: Path, content: bytes) -> None:
    (await taken(project)).stop()
    (project.parent / "baseline.git" / "acp-tui" / "snapshot.json").write_bytes(content)
    baseline = Baseline(Roots(project), project.parent / "baseline.git")
    assert not await baseline.resume()


async def test_a_folder_that_was_added_is_copied_when_the_session_is_resumed(project: Path) -> None:
    (await taken(project)).stop()
    other = fill(project.parent / "other", {"o.txt": "o0"})
    fill(project, {"a.txt": "a1\n"})
    again = await resumed(project, other)
    fill(other, {"o.txt": "o1"})
    assert [change.path.name for change in await again.changes()] == ["o.txt", "a.txt"]


async def test_only_the_user_can_read_what_is_kept(project: Path) -> None:
    baseline = await taken(project)
    await baseline.copy_before_change([project / "ignored"])
    directory = project.parent / "baseline.git"
    folders = [directory, directory / "acp-tui"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (directory / "acp-tui").iterdir()} == {0o600}


async def test_a_fork_has_the_baseline_and_leaves_the_original(project: Path) -> None:
    baseline = await taken(project)
    history = TurnHistory(baseline, HistoryLimits())
    await history.begin_turn(1)
    fill(project, {"a.txt": "a1\n"})
    history.end_turn()
    await history.settled()
    fork = await resumed(project, copy_of=project.parent / "baseline.git")
    forked_history = TurnHistory(fork, HistoryLimits())
    assert await forked_history.resume(was_closed=False) == []
    await baseline.delete()
    assert [turn.number for turn in forked_history.turns] == [1]
    await forked_history.rewind(1)
    assert (project / "a.txt").read_text() == "a0\n"


# ---- turns


async def begun(project: Path) -> TurnHistory:
    """Return a history in whose only turn, which still runs, a file was changed."""
    history = TurnHistory(await taken(project), HistoryLimits())
    await history.begin_turn(1)
    fill(project, {"a.txt": "a1\n"})
    return history


async def continued(project: Path) -> TurnHistory:
    return TurnHistory(await resumed(project), HistoryLimits())


async def test_turns_can_be_rewound_after_acp_tui_was_killed(project: Path) -> None:
    history = await begun(project)
    history.end_turn()
    await history.settled()
    again = await continued(project)
    assert await again.resume() == []
    assert [turn.number for turn in again.turns] == [1]
    await again.rewind(1)
    assert (project / "a.txt").read_text() == "a0\n"
    third = await continued(project)
    await third.resume()
    await third.undo_rewind()
    assert (project / "a.txt").read_text() == "a1\n"


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
async def test_what_changed_while_the_session_was_closed_is_named_and_asked_about(
    project: Path, *, closed: bool
) -> None:
    history = await begun(project)
    history.end_turn()
    await history.settled()
    if closed:
        await history.close(checkpoint=True)
    fill(project, {"a.txt": "mine\n"})
    again = await continued(project)
    assert await again.resume() == [project / "a.txt"]
    [step] = await again.plan_rewind(1)
    assert step.edited_between_turns


async def test_edits_while_the_session_was_open_do_not_count_as_made_while_it_was_closed(
    project: Path,
) -> None:
    history = await begun(project)
    history.end_turn()
    await history.settled()
    fill(project, {"sub/b.txt": "mine\n"})
    await history.close(checkpoint=True)
    assert await (await continued(project)).resume() == []


async def test_a_turn_during_which_acp_tui_was_killed_ends_with_the_last_message(project: Path) -> None:
    await begun(project)
    heard = (project / "a.txt").stat().st_ctime + 0.001
    later = project / "sub" / "b.txt"
    wait_until(lambda: later.write_text("mine\n") and later.stat().st_ctime > heard)
    again = await continued(project)
    assert await again.resume(heard) == [project / "sub" / "b.txt"]
    assert [change.path.name for change in await again.changes_of(again.turns[0])] == ["a.txt"]
    assert await again.plan_rewind(1)


# ---- worktrees


async def in_worktree(project: Path, base: str) -> tuple[Path, Baseline]:
    tree = project.parent / "tree"
    baseline = Baseline(Roots(tree), project.parent / "tree.git", worktree=worktree_base(tree, base))
    await baseline.take_snapshot()
    assert baseline.notices == []
    return tree, baseline


async def test_a_worktree_is_compared_with_the_commit_it_branched_from(project: Path) -> None:
    base = git(project, "rev-parse", "HEAD").strip()
    git(project, "worktree", "add", "--quiet", "-b", "work", "../tree")
    tree = project.parent / "tree"
    before = snapshot(tree)
    change_everything(tree)
    git(tree, "add", "a.txt")
    git(tree, "commit", "--quiet", "--message=by the agent")
    tree, baseline = await in_worktree(project, base)
    assert await changes(baseline, tree) == EVERYTHING | {"untracked.txt": "added"}
    await revert_all(baseline)
    assert snapshot(tree) == before


async def test_line_ends_that_git_converts_are_no_change_in_a_worktree(project: Path) -> None:
    base = git(project, "rev-parse", "HEAD").strip()
    git(project, "config", "core.autocrlf", "true")
    git(project, "worktree", "add", "--quiet", "-b", "work", "../tree")
    tree, baseline = await in_worktree(project, base)
    assert (tree / "a.txt").read_bytes() == b"a0\r\n"
    assert await changes(baseline, tree) == {}


async def test_a_commit_that_is_gone_is_reported(project: Path) -> None:
    git(project, "worktree", "add", "--quiet", "-b", "work", "../tree")
    tree = project.parent / "tree"
    baseline = Baseline(Roots(tree), project.parent / "tree.git", worktree=worktree_base(tree, "0" * 40))
    await baseline.take_snapshot()
    assert "cannot be compared with the commit" in baseline.notices[0]
    fill(tree, {"a.txt": "a1\n"})
    assert await changes(baseline, tree) == {"a.txt": "modified"}
