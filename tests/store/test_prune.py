"""Pruning: which stored sessions are removed, and which are kept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.store.drafts_and_history import Drafts, SavedComments
from acp_tui.store.prune import SECONDS_PER_DAY, prune, prune_baselines, remove_sessions, select_sessions
from acp_tui.store.session_folder import SessionFolder, create_session_folder
from acp_tui.store.stored_sessions import list_sessions, removal_reason, sessions_directory

if TYPE_CHECKING:
    from pathlib import Path


def record(data_dir: Path, at: float, *, size: int = 0) -> SessionFolder:
    folder = create_session_folder(data_dir, agent="a", title="A", cwd="/", command=[], clock=lambda: at)
    (folder.path / "baseline.git").mkdir()
    (folder.path / "baseline.git" / "object").write_bytes(b"x" * 1_000_000)
    folder.stderr_sink(b"x" * size)
    return folder


def ids(data_dir: Path) -> list[str]:
    return [session.id for session in list_sessions(data_dir)]


def test_the_oldest_sessions_beyond_the_count_limit_are_removed(tmp_path: Path) -> None:
    folders = [record(tmp_path, at) for at in range(5)]
    for folder in folders:
        folder.close()

    removed = prune(tmp_path, tmp_path, keep=2, max_bytes=10**9)
    assert [entry.session.id for entry in removed] == [folder.id for folder in folders[:3]]
    assert ids(tmp_path) == [folders[4].id, folders[3].id]
    assert not folders[0].path.exists()


def test_the_oldest_sessions_beyond_the_size_limit_are_removed(tmp_path: Path) -> None:
    folders = [record(tmp_path, at, size=100_000) for at in range(4)]
    for folder in folders:
        folder.close()

    (removed,) = prune(tmp_path, tmp_path, keep=100, max_bytes=350_000)
    assert removed.session.id == folders[0].id
    assert removed.size >= 100_000


def test_a_session_in_use_is_kept(tmp_path: Path) -> None:
    oldest, old, new = (record(tmp_path, at) for at in range(3))
    old.close()
    new.close()

    removed = prune(tmp_path, tmp_path, keep=0, max_bytes=0)
    assert [entry.session.id for entry in removed] == [old.id, new.id]
    assert ids(tmp_path) == [oldest.id]
    oldest.close()
    assert len(prune(tmp_path, tmp_path, keep=0, max_bytes=0)) == 1


def test_a_session_with_a_worktree_is_kept(tmp_path: Path) -> None:
    old, new = (record(tmp_path, at) for at in range(2))
    (tmp_path / "worktree").mkdir()
    old.update_meta(worktree={"path": str(tmp_path / "worktree")})
    for folder in (old, new):
        folder.close()
    assert prune(tmp_path, tmp_path, keep=1, max_bytes=10**9) == []
    (tmp_path / "worktree").rmdir()
    assert len(prune(tmp_path, tmp_path, keep=1, max_bytes=10**9)) == 1


def test_sessions_with_a_draft_a_queued_prompt_or_comments_are_kept(tmp_path: Path) -> None:
    drafted, blank, queued, sent, commented = folders = [record(tmp_path, at) for at in range(5)]
    Drafts(tmp_path).save(drafted.id, "half a thought")
    Drafts(tmp_path).save(blank.id, " ")
    SavedComments(tmp_path).save(commented.id, [{"text": "Why?"}])
    for folder in (queued, sent):
        folder.log.append(0, "client", {"event": "queued", "id": "queued-1", "text": "later", "blocks": []})
    sent.log.append(0, "client", {"event": "unqueued", "id": "queued-1"})
    for folder in folders:
        folder.close()
    removed = prune(tmp_path, tmp_path, keep=0, max_bytes=0)
    assert [entry.session.id for entry in removed] == [blank.id, sent.id]
    assert ids(tmp_path) == [commented.id, queued.id, drafted.id]


def test_the_limit_on_recordings_does_not_count_baselines(tmp_path: Path) -> None:
    record(tmp_path, 1).close()
    assert prune(tmp_path, tmp_path, keep=100, max_bytes=500_000) == []


def prune_copies(data_dir: Path, *, days: int = 30, max_bytes: int = 10**9, now: float = 0) -> list[str]:
    return [session.id for session in prune_baselines(data_dir, days=days, max_bytes=max_bytes, now=now)]


def test_baselines_of_sessions_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    folders = [record(tmp_path, at) for at in (0, 40 * SECONDS_PER_DAY, 50 * SECONDS_PER_DAY)]
    for folder in folders:
        folder.close()
    assert prune_copies(tmp_path, now=60 * SECONDS_PER_DAY) == [folders[0].id]
    assert [(folder.path / "baseline.git" / "object").exists() for folder in folders] == [False, True, True]
    assert removal_reason(folders[0].path / "baseline.git") == (
        "the session was not used for 30 days (workspace.keep_baseline_days)"
    )
    assert removal_reason(folders[1].path / "baseline.git") == ""
    assert len(ids(tmp_path)) == 3
    assert prune_copies(tmp_path, now=60 * SECONDS_PER_DAY) == []


def test_the_oldest_baselines_beyond_the_size_limit_are_removed(tmp_path: Path) -> None:
    folders = [record(tmp_path, at) for at in range(3)]
    for folder in folders:
        folder.close()
    assert prune_copies(tmp_path, max_bytes=2_500_000) == [folders[0].id]
    assert prune_copies(tmp_path, max_bytes=0) == [folders[1].id]
    assert (folders[2].path / "baseline.git" / "object").exists()
    assert "2 MB" in removal_reason(folders[0].path / "baseline.git")


def test_objects_that_the_users_repository_has_too_do_not_count(tmp_path: Path) -> None:
    folders = [record(tmp_path, at) for at in range(2)]
    for folder in folders:
        os.link(folder.path / "baseline.git" / "object", tmp_path / f"object of {folder.id}")
        folder.close()
    assert prune_copies(tmp_path, max_bytes=0) == []


def test_the_baseline_of_a_session_in_use_is_kept(tmp_path: Path) -> None:
    used = record(tmp_path, 0)
    assert prune_copies(tmp_path, now=60 * SECONDS_PER_DAY) == []
    used.close()
    assert prune_copies(tmp_path, now=60 * SECONDS_PER_DAY) == [used.id]


def test_a_damaged_session_folder_can_be_removed(tmp_path: Path) -> None:
    (sessions_directory(tmp_path) / "broken").mkdir(parents=True)

    assert [entry.session.id for entry in prune(tmp_path, tmp_path, keep=0, max_bytes=0)] == ["broken"]
    assert ids(tmp_path) == []


def test_sessions_already_removed_are_not_counted(tmp_path: Path) -> None:
    record(tmp_path, 1).close()
    chosen = select_sessions(tmp_path, tmp_path, keep=0, max_bytes=0).to_remove

    assert len(remove_sessions(tmp_path, chosen)) == 1
    assert remove_sessions(tmp_path, chosen) == []


def test_an_interrupted_removal_is_finished_by_the_next_prune(tmp_path: Path) -> None:
    folder = record(tmp_path, 1)
    folder.close()
    leftover = folder.path.rename(folder.path.with_name(f".removed-{folder.id}"))

    assert prune(tmp_path, tmp_path, keep=0, max_bytes=0) == []
    assert not leftover.exists()


def test_pruning_a_missing_directory_removes_and_creates_nothing(tmp_path: Path) -> None:
    assert prune(tmp_path / "nowhere", tmp_path, keep=0, max_bytes=0) == []
    assert not (tmp_path / "nowhere").exists()
