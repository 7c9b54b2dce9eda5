"""Files of acp-tui that are something else: each is named, and the rest works."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.session_list.search_index import index_file
from tests.support.cli import Run, environment, script, steps
from tests.support.leftovers import MARK, processes_with
from tests.support.preloaded import PreloadedProgram
from tests.support.stored_sessions import record_session
from tests.support.terminal import PreloadedTerminal

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 60.0
STATE_FILES = (
    *(
        "permissions.json",
        "permission-matches.json",
        "mcp-facts.json",
        "drafts.jsonl",
        "trusted-folders.json",
    ),
    *("review_comments.jsonl", "open-tabs/0123456789abcdef.json", "open-tabs/0123456789abcdef.lock"),
    *("acp-tui.log", ".mcp-facts.json.lock", ".drafts.jsonl.lock", "permission-matches.json.lock"),
)
SESSION_FILES = ("wire.jsonl", "meta.json", "stderr.log")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3_000_000_000)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


ODD_KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "directory": (Path.mkdir, "is a directory"),
    "link loop": (lambda path: path.symlink_to(path.name), "is a link to itself"),
    "pipe": (os.mkfifo, "is a named pipe"),
    "socket": (_socket, "is a socket"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "is a device"),
    "3 GB": (_huge, "is larger than"),
}


@pytest.fixture(params=ODD_KINDS)
def kind(request: pytest.FixtureRequest, home: Path) -> str:
    """Make every file of the state directory odd, and one file each in three of four sessions."""
    make, _ = ODD_KINDS[request.param]
    for name in STATE_FILES:
        path = home / "state" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
    for name in ("", *SESSION_FILES):
        folder = record_session(
            home / "data", [("hello", "world")], cwd="/project", command=["x"], title=f"With {name}"
        )
        if name:
            assert folder.path is not None
            (folder.path / name).unlink()
            make(folder.path / name)
    return str(request.param)


def run_in_time(folder: Path, *words: str) -> Run:
    """Run the program, and fail if it does not end by itself."""
    mark = uuid.uuid4().hex
    out, err = folder / "out", folder / "err"
    for path in (out, err):
        path.write_bytes(b"")
    streams = (os.devnull, str(out), str(err))
    program = PreloadedProgram([*words], folder, environment(**{MARK: mark}), streams)
    try:
        code = program.wait(SECONDS)
    finally:
        if program.poll() is None:
            program.kill()
    assert processes_with(mark) == []
    return Run(code, out.read_text(), err.read_text())


def test_sessions_are_listed(tmp_path: Path, kind: str) -> None:
    done = run_in_time(tmp_path, "sessions", "list")
    what = ODD_KINDS[kind][1]
    assert (done.code, done.out.count("With"), done.out.count("(wire.jsonl is ")) == (0, 2, 1)
    assert f"/wire.jsonl {what}" in done.err
    assert f"/meta.json {what}" in done.err


def test_sessions_are_searched(tmp_path: Path, kind: str) -> None:
    done = run_in_time(tmp_path, "sessions", "search", "hello")
    assert (done.code, done.out.count("world"), done.out.count("hello")) == (0, 0, 4)
    assert f"/wire.jsonl {ODD_KINDS[kind][1]}" in done.err


def test_rules_are_listed(tmp_path: Path, kind: str) -> None:
    done = run_in_time(tmp_path, "permissions", "list")
    assert (done.code, done.err.count(f"permissions.json cannot be read: it {ODD_KINDS[kind][1]}")) == (0, 1)


def test_a_prompt_is_run_and_continued(tmp_path: Path, kind: str) -> None:
    command = script(capabilities={"sessionCapabilities": {"resume": {}}})
    words = ["exec", "--command", command, steps(["say", "done"])]
    first, second = run_in_time(tmp_path, *words), run_in_time(tmp_path, *words, "--continue")
    for done in (first, second):
        assert (done.code, done.out.strip()) == (0, "done")
        assert f"/trusted-folders.json {ODD_KINDS[kind][1]}" in done.err


def test_the_screen_opens_and_quits(tmp_path: Path, kind: str) -> None:
    what = ODD_KINDS[kind][1]
    with PreloadedTerminal("--command", script(), cwd=tmp_path) as terminal:
        terminal.sees("idle")
        terminal.type(steps(["say", "an answer"]) + "\r")
        terminal.sees("   an answer")
        terminal.type("a draft")
        terminal.sees("❯ a draft")
        assert terminal.quit() == 0
        for name in ("drafts.jsonl", "trusted-folders.json"):
            assert f"/{name} {what}".replace(" ", "") in "".join(terminal.new_text().split())


@pytest.mark.parametrize("kind_of_index", ["directory", "link loop", "pipe", "device"])
def test_an_odd_index_is_named_by_the_search(tmp_path: Path, home: Path, kind_of_index: str) -> None:
    record_session(home / "data", [("hello", "world")])
    index = index_file(home / "cache")
    index.parent.mkdir(parents=True)
    make, what = ODD_KINDS[kind_of_index]
    make(index)
    done = run_in_time(tmp_path, "sessions", "search", "hello")
    assert done.code == 1
    assert f"The index of sessions cannot be used: {index.name} {what}." in done.err


def test_a_session_that_cannot_be_read_is_not_resumed_but_removed(tmp_path: Path, home: Path) -> None:
    folder = record_session(home / "data", [("hello", "world")], command=["x"])
    assert folder.path is not None
    (folder.path / "wire.jsonl").unlink()
    os.mkfifo(folder.path / "wire.jsonl")
    done = run_in_time(tmp_path, "exec", "--command", script(), "hello", "--resume", str(folder.id))
    assert (done.code, done.err.count("wire.jsonl is a named pipe")) == (1, 1)
    assert run_in_time(tmp_path, "sessions", "prune", "--keep", "0", "--yes").code == 0
    assert not folder.path.exists()
