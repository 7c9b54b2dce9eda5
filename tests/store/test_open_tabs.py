"""The open tabs of each run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.store import open_tabs
from acp_tui.store.open_tabs import OpenTabsFile, SavedTab, take_open_tabs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ONE, TWO = SavedTab("one", "Agent", "Fix it"), SavedTab("two", "Agent", "Docs", active=True)


def test_the_tabs_of_an_ended_run_are_taken_once(tmp_path: Path) -> None:
    run = OpenTabsFile(tmp_path, "/project")
    run.save([ONE, TWO])
    assert take_open_tabs(tmp_path, "/project") == []  # it still runs
    run.close()
    assert take_open_tabs(tmp_path, "/other") == []
    assert take_open_tabs(tmp_path, "/project") == [ONE, TWO]
    assert take_open_tabs(tmp_path, "/project") == []


def test_each_of_two_runs_keeps_its_own_tabs(tmp_path: Path) -> None:
    first, second = OpenTabsFile(tmp_path, "/project"), OpenTabsFile(tmp_path, "/project")
    first.save([ONE])
    second.save([TWO])
    first.close()
    assert take_open_tabs(tmp_path, "/project") == [ONE]
    second.save([TWO, ONE])
    second.close()
    assert take_open_tabs(tmp_path, "/project") == [TWO, ONE]


def test_nothing_is_left_of_a_run_without_tabs(tmp_path: Path) -> None:
    run = OpenTabsFile(tmp_path, "/project")
    run.save([ONE])
    run.save([])
    run.close()
    assert list((tmp_path / "open-tabs").iterdir()) == []


def test_lock_files_without_tabs_are_removed_once_their_run_has_ended(tmp_path: Path) -> None:
    folder = tmp_path / "open-tabs"
    running = OpenTabsFile(tmp_path, "/project")
    running.save([ONE])
    running.save([])
    (of_running,) = folder.iterdir()
    (folder / "crashed.lock").touch()
    following = OpenTabsFile(tmp_path, "/project")
    following.save([TWO])
    assert {path.stem for path in folder.glob("*.lock")} == {
        of_running.stem,
        *(path.stem for path in folder.glob("*.json")),
    }
    following.close()
    running.close()
    assert take_open_tabs(tmp_path, "/project") == [TWO]
    assert list(folder.iterdir()) == []


def test_old_files_and_damaged_ones_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_tabs, "MAX_FILES", 1)
    for number, tab in enumerate((ONE, TWO)):
        run = OpenTabsFile(tmp_path, "/project")
        run.save([tab])
        run.close()
        newest = max((tmp_path / "open-tabs").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    OpenTabsFile(tmp_path, "/other").save([ONE])
    (tmp_path / "open-tabs" / "damaged.json").write_text('{"folder": "/project", "tabs": [1, {}, "')
    assert take_open_tabs(tmp_path, "/project") == [TWO]


def test_a_run_that_never_has_tabs_writes_nothing(tmp_path: Path) -> None:
    OpenTabsFile(tmp_path, "/project").save([])
    assert list(tmp_path.iterdir()) == []
