"""Checkpoints around turns: what a turn changed, and going back to the files before it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.errors import UserError
from acp_tui.workspace.baseline.baseline import Baseline
from acp_tui.workspace.baseline.file_change import Limits
from acp_tui.workspace.baseline.turn_history import HistoryLimits, TurnHistory
from tests.workspace.projects import fill, repository, snapshot, taken

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acp_tui.workspace.baseline.saved_state import Checkpoint
    from acp_tui.workspace.baseline.turn_history import RewindStep


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path.resolve() / "project", {"a.txt": "a0\n", "sub/b.txt": "b0\n"})


async def history_of(project: Path, limits: HistoryLimits | None = None) -> TurnHistory:
    return TurnHistory(await taken(project), limits or HistoryLimits())


async def run_turn(history: TurnHistory, number: int, work: Callable[[], object]) -> None:
    await history.begin_turn(number)
    work()
    history.end_turn()
    await history.settled()


def write(project: Path, files: dict[str, str | bytes]) -> Callable[[], object]:
    return lambda: fill(project, files)


def by_name(project: Path, steps: list[RewindStep]) -> dict[str, str]:
    return {str(step.path.relative_to(project)): step.kind for step in steps}


async def test_a_turn_lists_the_files_it_changed_and_no_others(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    fill(project, {"mine.txt": "between turns"})
    await run_turn(history, 2, write(project, {"sub/b.txt": "b2\n", "new.txt": "n2\n"}))
    names = [[change.path.name for change in await history.changes_of(turn)] for turn in history.turns]
    assert names == [["a.txt"], ["new.txt", "b.txt"]]


async def test_a_file_changed_by_two_turns_is_listed_for_both(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    await run_turn(history, 2, write(project, {"a.txt": "a2\n"}))
    assert [len(await history.changes_of(turn)) for turn in history.turns] == [1, 1]


async def test_a_rewind_restores_edits_deletions_new_files_links_modes_and_folders(project: Path) -> None:
    fill(project, {"run.sh": "#!/bin/sh\n", "gone.bin": b"\0\xff", "file": "f0", "folder/x": "x0"})
    (project / "link").symlink_to("a.txt")
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    before = snapshot(project)

    def work() -> None:
        fill(project, {"a.txt": "a2\n", "deep/new.txt": "new"})
        (project / "gone.bin").unlink()
        (project / "run.sh").chmod(0o755)
        (project / "link").unlink()
        (project / "link").symlink_to("sub/b.txt")
        (project / "file").unlink()
        (project / "folder/x").unlink()
        (project / "folder").rmdir()
        fill(project, {"file/deep/x": "x2", "folder": "f2"})

    await run_turn(history, 2, work)
    after = snapshot(project)
    steps = by_name(project, await history.plan_rewind(2))
    assert steps == {
        "a.txt": "restore",
        "deep/new.txt": "delete",
        "file": "create",
        "file/deep/x": "delete",
        "folder": "delete",
        "folder/x": "create",
        "gone.bin": "create",
        "link": "restore",
        "run.sh": "mode",
    }
    result = await history.rewind(2)
    assert not result.failed
    assert snapshot(project) == before
    await history.undo_rewind()
    assert snapshot(project) == after


async def test_a_rewind_by_two_turns_goes_back_to_the_start_of_the_first(project: Path) -> None:
    history = await history_of(project)
    before = snapshot(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    await run_turn(history, 2, write(project, {"a.txt": "a2\n", "sub/b.txt": "b2\n"}))
    await history.rewind(1)
    assert snapshot(project) == before


async def test_edits_of_the_user_between_turns_are_overwritten_only_if_agreed(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n", "sub/b.txt": "b1\n"}))
    fill(project, {"a.txt": "mine\n"})
    steps = {step.path.name: step.edited_between_turns for step in await history.plan_rewind(1)}
    assert steps == {"a.txt": True, "b.txt": False}
    with pytest.raises(UserError, match=r"Nothing was restored, because .*a\.txt was edited between turns"):
        await history.rewind(1)
    assert (project / "sub/b.txt").read_text() == "b1\n"
    await history.rewind(1, overwrite=[project / "a.txt"])
    assert (project / "a.txt").read_text() == "a0\n"


async def test_an_undone_rewind_leaves_every_file_as_it_was(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n", "new.txt": "n1\n"}))
    before = snapshot(project)
    await history.rewind(1)
    assert snapshot(project) != before
    await history.undo_rewind()
    assert snapshot(project) == before


async def test_an_undo_is_refused_when_a_restored_file_was_edited_since(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    await history.rewind(1)
    fill(project, {"a.txt": "mine\n"})
    replaced = await history.replaced_files()
    with pytest.raises(UserError, match=r"cannot be undone: .*a\.txt has changed since"):
        await history.undo_rewind()
    with pytest.raises(UserError, match=r"cannot be undone: .*a\.txt has changed since"):
        await (await history_of(project)).put_back(replaced, 1_000_000)
    assert (project / "a.txt").read_text() == "mine\n"


async def test_a_rewind_is_no_edit_of_the_user_for_the_next_one(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    await run_turn(history, 2, write(project, {"a.txt": "a2\n"}))
    await history.rewind(2)
    assert [step.edited_between_turns for step in await history.plan_rewind(1)] == [False]


async def test_an_edit_during_a_rewind_is_not_overwritten(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n", "sub/b.txt": "b1\n"}))
    restore = Baseline.restore

    async def restore_and_edit(baseline: Baseline, path: Path, checkpoint: Checkpoint | None) -> None:
        await restore(baseline, path, checkpoint)
        fill(project, {"sub/b.txt": "mine\n"})

    monkeypatch.setattr(Baseline, "restore", restore_and_edit)
    result = await history.rewind(1)
    assert [path.name for path, _ in result.failed] == ["b.txt"]
    assert (project / "sub/b.txt").read_text() == "mine\n"


async def test_nothing_is_restored_while_a_turn_runs(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    await history.begin_turn(2)
    with pytest.raises(UserError, match="while the agent is working"):
        await history.rewind(1)
    assert (project / "a.txt").read_text() == "a1\n"


async def test_ignored_files_without_a_copy_stay_and_say_why(project: Path) -> None:
    fill(project, {".gitignore": "*.log\n", "old.log": "0"})
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n", ".gitignore": ""}))
    fill(project, {"old.log": "1"})
    obstacles = {step.path.name: step.obstacle for step in await history.plan_rewind(1)}
    assert obstacles["a.txt"] is None
    assert obstacles.get("old.log")


async def test_a_file_stays_if_what_it_contains_now_could_not_be_brought_back(project: Path) -> None:
    history = TurnHistory(await taken(project, limits=Limits(file_size=1000)), HistoryLimits())
    await run_turn(history, 1, write(project, {"a.txt": "x" * 1001, "sub/b.txt": "b1\n"}))
    obstacles = {step.path.name: step.obstacle for step in await history.plan_rewind(1)}
    assert "its current content could not be copied" in (obstacles["a.txt"] or "")
    assert obstacles["b.txt"] is None
    await history.rewind(1)
    assert (project / "a.txt").read_text() == "x" * 1001
    assert (project / "sub/b.txt").read_text() == "b0\n"


async def test_a_prompt_that_was_sent_again_counts_once(project: Path) -> None:
    history = await history_of(project)
    await history.begin_turn(1)
    await run_turn(history, 1, write(project, {"a.txt": "a1\n"}))
    assert [turn.number for turn in history.turns] == [1]
    await history.rewind(1)
    assert (project / "a.txt").read_text() == "a0\n"


async def test_an_undo_that_fails_for_a_file_can_be_repeated(project: Path) -> None:
    history = await history_of(project)
    await run_turn(history, 1, write(project, {"new/one.txt": "1\n", "a.txt": "a1\n"}))
    last = snapshot(project)
    await history.rewind(1)
    (project / "new").rmdir()
    fill(project, {"new": "in the way"})
    result = await history.undo_rewind()
    assert [path.name for path, _ in result.failed] == ["one.txt"]
    assert (project / "a.txt").read_text() == "a1\n"
    (project / "new").unlink()
    await history.undo_rewind()
    assert snapshot(project) == last
    assert not history.can_undo


async def test_the_oldest_turns_are_dropped_beyond_the_limit(project: Path) -> None:
    history = await history_of(project, HistoryLimits(turns=2))
    for number in (1, 2, 3):
        await run_turn(history, number, write(project, {"a.txt": f"a{number}\n"}))
    assert [turn.number for turn in history.turns] == [2, 3]
    assert history.dropped
    with pytest.raises(UserError, match="no copies of the files from before prompt 1"):
        await history.rewind(1)
    await history.rewind(2)
    assert (project / "a.txt").read_text() == "a1\n"


async def test_copies_are_deleted_beyond_the_size_limit(project: Path) -> None:
    history = await history_of(project, HistoryLimits(size=250_000))
    for number in range(1, 6):
        await run_turn(history, number, write(project, {"big.bin": os.urandom(100_000)}))
    stored = sum(path.stat().st_size for path in (project.parent / "baseline.git/objects").rglob("*"))
    assert history.dropped
    assert stored < 450_000
    kept = history.turns[0].number
    await history.rewind(kept)


_CONTENT = st.sampled_from([None, b"", b"one\n", b"two\n", b"\0\xff"])
_FILES = st.dictionaries(st.sampled_from(["a.txt", "sub/b.txt", "new", "dir/new"]), _CONTENT, max_size=4)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(_FILES, min_size=1, max_size=3), data=st.data())
async def test_going_back_and_undoing_it_are_exact(
    tmp_path_factory: pytest.TempPathFactory, turns: list[dict[str, bytes | None]], data: st.DataObject
) -> None:
    project = repository(tmp_path_factory.mktemp("p").resolve() / "project", {"a.txt": "a", "sub/b.txt": "b"})
    history = await history_of(project)
    before = []
    for number, files in enumerate(turns, 1):
        before.append(snapshot(project))
        await run_turn(history, number, partial(_apply, project, files))
    last = snapshot(project)
    number = data.draw(st.integers(1, len(turns)))
    await history.rewind(number)
    assert snapshot(project) == before[number - 1]
    if data.draw(st.booleans(), label="in the next session"):
        replaced = await history.replaced_files()
        await (await history_of(project)).put_back(replaced, 1_000_000)
    else:
        await history.undo_rewind()
    assert snapshot(project) == last


def _apply(project: Path, files: dict[str, bytes | None]) -> None:
    for name, content in files.items():
        if content is None:
            (project / name).unlink(missing_ok=True)
        else:
            fill(project, {name: content})
