"""A home directory that cannot be written to, and a full disk."""

from __future__ import annotations

import fcntl
import resource
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.support.conversation_ui import agent
from tests.support.recordings import WIRELOGS
from tests.support.terminal import MODES_OFF, PreloadedTerminal

if TYPE_CHECKING:
    from pathlib import Path

RECORDING = next(path for path in WIRELOGS if path.stem == "claude-code-edit")


@pytest.fixture
def nowhere(home: Path) -> Path:
    """Return a home directory that cannot be created."""
    home.write_text("a file", encoding="utf-8")
    return home


@pytest.mark.parametrize(
    ("args", "shown"),
    [(["--choose"], "Demo agent"), (["replay", str(RECORDING)], "Recorded session")],
    ids=["the launcher", "a replay"],
)
def test_the_app_starts_without_a_writable_home(
    tmp_path: Path, nowhere: Path, args: list[str], shown: str
) -> None:
    with PreloadedTerminal(*args, cwd=tmp_path) as terminal:
        terminal.wait_for(shown)
        assert terminal.quit() == 0


def test_a_conversation_without_a_writable_home_warns_and_works(tmp_path: Path, nowhere: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("The session cannot be recorded", "idle")
        terminal.type("hello\r")
        terminal.wait_for("┃ hello", "idle")
        assert terminal.quit() == 0
        assert b"Traceback" not in terminal.raw
        assert b"--resume" not in terminal.raw


def test_held_locks_block_neither_the_start_nor_typing(tmp_path: Path, home: Path) -> None:
    locks = [home / "data" / "sessions" / ".lock", home / "state" / ".drafts.jsonl.lock"]
    with ExitStack() as held_by_other:
        for lock in locks:
            lock.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(held_by_other.enter_context(open(lock, "wb")), fcntl.LOCK_EX)
        with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
            terminal.wait_for("The session cannot be recorded: another process", "idle")
            terminal.type("hello\r")
            terminal.wait_for("┃ hello", "idle")
            assert terminal.quit() == 0


def test_a_draft_that_cannot_be_saved_is_reported_once(tmp_path: Path, home: Path) -> None:
    lock = home / "state" / ".drafts.jsonl.lock"
    lock.parent.mkdir(parents=True)
    with (
        open(lock, "wb") as held_by_other,
        PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal,
    ):
        fcntl.flock(held_by_other, fcntl.LOCK_EX)
        terminal.wait_for("idle")
        terminal.type("half a thought")
        terminal.wait_for("The draft cannot be saved")


def test_the_demo_reports_that_it_cannot_create_its_project(tmp_path: Path, nowhere: Path) -> None:
    with PreloadedTerminal("demo", cwd=tmp_path) as terminal:
        assert terminal.ended() == 1
        told = " ".join(terminal.raw[terminal.raw.rindex(MODES_OFF[-1]) :].decode().split())
        assert "acp-tui: Cannot create the demo's sample project in " in told
        assert terminal.settings == terminal.before


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of others can be set on Linux only")
def test_a_full_disk_is_reported_once_and_so_is_its_end(tmp_path: Path, home: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        terminal.type("one\r")
        terminal.wait_for("┃ one", "idle")
        _, most = resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, (0, most))
        terminal.type("two\rthree\r")
        terminal.wait_for("┃ two", "┃ three", "Recording paused")
        terminal.type("four\r")
        terminal.sees("┃ four", "   four", "idle")  # the answer would be recorded after the change
        resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, (most, most))
        terminal.type("five\r")
        terminal.wait_for("┃ five", "Recording resumed")
        assert terminal.quit() == 0
        assert b"Traceback" not in terminal.raw
    (log,) = home.glob("data/sessions/*/wire.jsonl")
    recorded = log.read_text(encoding="utf-8")
    assert recorded.count("Recording resumed") == 1
    assert [word for word in ("one", "two", "three", "four", "five") if f'"{word}"' in recorded] == [
        "one",
        "five",
    ]
