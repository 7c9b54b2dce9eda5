"""Old sessions go, with all that belongs to them; those in use stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.store.prune import prune, prune_candidates, remove_sessions
from acp_tui.store.session_folder import SessionFolder, create_session_folder
from acp_tui.store.stored_sessions import list_sessions, sessions_directory

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


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    made = [record(tmp_path, at) for at in range(5)]
    for folder in made:
        folder.close()

    removed = prune(tmp_path, keep=2, max_bytes=10**9)
    assert [one.session.id for one in removed] == [folder.id for folder in made[:3]]
    assert ids(tmp_path) == [made[4].id, made[3].id]
    assert not made[0].path.exists()


def test_the_oldest_go_when_they_take_too_much_room(tmp_path: Path) -> None:
    made = [record(tmp_path, at, size=100_000) for at in range(4)]
    for folder in made:
        folder.close()

    (removed,) = prune(tmp_path, keep=100, max_bytes=350_000)
    assert removed.session.id == made[0].id
    assert removed.size >= 100_000


def test_a_session_in_use_stays(tmp_path: Path) -> None:
    oldest, old, new = (record(tmp_path, at) for at in range(3))
    old.close()
    new.close()

    removed = prune(tmp_path, keep=0, max_bytes=0)
    assert [one.session.id for one in removed] == [old.id, new.id]
    assert ids(tmp_path) == [oldest.id]
    oldest.close()
    assert len(prune(tmp_path, keep=0, max_bytes=0)) == 1


def test_copies_of_a_project_go_first_but_those_in_use(tmp_path: Path) -> None:
    """Somebody was killed, and could not delete them."""
    killed, used = record(tmp_path, 1), record(tmp_path, 2)
    killed.close()

    assert prune(tmp_path, keep=100, max_bytes=1_200_000) == []
    assert {path.name for path in killed.path.iterdir()} == {"meta.json", "wire.jsonl", "stderr.log"}
    assert (used.path / "baseline.git" / "object").exists()
    used.close()


def test_a_damaged_folder_can_go(tmp_path: Path) -> None:
    (sessions_directory(tmp_path) / "broken").mkdir(parents=True)

    assert [one.session.id for one in prune(tmp_path, keep=0, max_bytes=0)] == ["broken"]
    assert ids(tmp_path) == []


def test_what_others_removed_meanwhile_is_not_counted(tmp_path: Path) -> None:
    record(tmp_path, 1).close()
    chosen = prune_candidates(tmp_path, keep=0, max_bytes=0)

    assert len(remove_sessions(tmp_path, chosen)) == 1
    assert remove_sessions(tmp_path, chosen) == []


def test_a_removal_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    folder = record(tmp_path, 1)
    folder.close()
    leftover = folder.path.rename(folder.path.with_name(f".removed-{folder.id}"))

    assert prune(tmp_path, keep=0, max_bytes=0) == []
    assert not leftover.exists()


def test_without_a_store_there_is_nothing_to_remove(tmp_path: Path) -> None:
    assert prune(tmp_path / "nowhere", keep=0, max_bytes=0) == []
    assert not (tmp_path / "nowhere").exists()
