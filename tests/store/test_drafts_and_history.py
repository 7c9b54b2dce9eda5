"""Drafts and prompt history: crashes, concurrent processes, damaged lines and size limits."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.store.drafts_and_history import Drafts, History

if TYPE_CHECKING:
    from pathlib import Path


def test_a_draft_survives_a_crash(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal, sys\n"
        "from acp_tui.store.drafts_and_history import Drafts\n"
        "Drafts(pathlib.Path(sys.argv[1])).save('one', 'half a thou')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)

    assert Drafts(tmp_path).load("one") == "half a thou"
    assert Drafts(tmp_path).load("other") == ""


def test_loading_returns_the_last_saved_draft_of_a_session(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.save("one", "a")
    drafts.save("two", "b\n\ud83dc")
    drafts.save("one", "aa")
    assert (drafts.load("one"), drafts.load("two")) == ("aa", "b\n\ud83dc")

    drafts.save("one", "")
    assert (drafts.load("one"), drafts.load("two")) == ("", "b\n\ud83dc")


def test_history_is_per_project_without_duplicates(tmp_path: Path) -> None:
    history = History(tmp_path, "/home/me/project")
    for at, text in enumerate(["a", "b", "a", "c"]):
        history.add(text, at)

    assert history.entries() == ["b", "a", "c"]
    assert History(tmp_path, "/home/me/project").entries() == ["b", "a", "c"]
    assert History(tmp_path, "/home/you/project").entries() == []


def test_history_works_for_any_folder_name(tmp_path: Path) -> None:
    for project in ("/", "/.hidden", "/a b/ü/" + "x" * 200, "/\udce9"):
        History(tmp_path, project).add(project, 1)
        assert History(tmp_path, project).entries() == [project]


def test_damaged_history_lines_are_skipped(tmp_path: Path) -> None:
    History(tmp_path, "/p").add("first", 1)
    (file,) = (tmp_path / "history").glob("*.jsonl")
    with file.open("ab") as lines:
        lines.write(b'\xff\n[1]\n{"text": 3}\n{"t": 2, "text": "to')
    History(tmp_path, "/p").add("last", 3)

    assert History(tmp_path, "/p").entries() == ["first", "last"]


def test_draft_and_history_files_are_private(tmp_path: Path) -> None:
    History(tmp_path / "state", "/p").add("first", 1)
    Drafts(tmp_path / "state").save("s", "x")

    for path in (tmp_path / "state").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_files_stay_small_and_keep_the_newest_entries(tmp_path: Path) -> None:
    history, drafts = History(tmp_path, "/p"), Drafts(tmp_path)
    drafts.save("early", "kept")
    for number in range(60):
        history.add(f"{number} {'x' * 50_000}", number)
        drafts.save("busy", f"{number} {'x' * 50_000}")

    assert sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl")) < 2_200_000
    kept = [int(text.split()[0]) for text in history.entries()]
    assert kept == list(range(kept[0], 60))
    assert len(kept) >= 10
    assert drafts.load("busy").startswith("59 ")
    assert drafts.load("early") == "kept"


ADD = """
import pathlib, sys
from acp_tui.store.drafts_and_history import History
from acp_tui.store.locks import LockedError
history = History(pathlib.Path(sys.argv[1]), "/p")
for number in range(50):
    while True:
        try:
            history.add(f"{sys.argv[2]} {number} " + "x" * 30_000, number)
        except LockedError:
            continue
        break
"""


def test_two_concurrent_processes_lose_only_the_oldest_entries(tmp_path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", ADD, str(tmp_path), name]) for name in "ab"]
    assert [process.wait() for process in running] == [0, 0]

    kept = [text.split()[:2] for text in History(tmp_path, "/p").entries()]
    for name in "ab":
        numbers = [int(number) for who, number in kept if who == name]
        assert numbers == list(range(50 - len(numbers), 50))
    assert len(kept) >= 15


def test_saving_raises_if_the_directory_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "state").touch()

    with pytest.raises(OSError, match=r"exists|directory"):
        History(tmp_path / "state", "/p").add("a", 1)
    with pytest.raises(OSError, match=r"exists|directory"):
        Drafts(tmp_path / "state").save("s", "a")
    assert Drafts(tmp_path / "state").load("s") == ""


def test_saving_a_draft_fails_while_another_process_holds_the_lock(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.save("s", "before")
    with open(tmp_path / ".drafts.jsonl.lock", "rb") as held_by_other:
        fcntl.flock(held_by_other, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another process holds the lock"):
            drafts.save("s", "during")
    drafts.save("s", "after")

    assert drafts.load("s") == "after"
