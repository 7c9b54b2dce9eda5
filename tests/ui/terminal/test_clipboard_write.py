"""Copying to the clipboard, and the message that says where the text went."""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.ui.terminal import clipboard
from acp_tui.ui.terminal.clipboard import MAX_BASE64_CHARS, copy, osc52, programs
from acp_tui.ui.terminal.passthrough import SCREEN_LIMIT, wrap_for_multiplexer
from tests.support.leftovers import processes_with
from tests.support.recordings import WIRELOGS
from tests.support.terminal import PROGRAM, PreloadedTerminal
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.conversation_ui import Open

RECORDED = str(next(path for path in WIRELOGS if path.stem == "claude-code-edit"))
LAST = "I wrote the file."
"""The last answer of that."""
OSC = f"\x1b]52;c;{base64.b64encode(f'{LAST}{chr(10)}'.encode()).decode()}\x07"
TEXT = "naïve ‹text›\n\twith lines\n"


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """Return a folder for programs that is first in PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def environ(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": f"{folder}:/usr/bin:/bin", "TERM": "xterm-256color", **more}


def at_work(folder: Path, **more: str) -> list[str]:
    return [one.command[0] for one in programs({"PATH": str(folder), **more})]


# --------------------------------------------------------------------------- programs


@pytest.mark.skipif(sys.platform == "darwin", reason="pbcopy comes first there")
async def test_a_clipboard_program_receives_the_whole_text(bin_folder: Path, tmp_path: Path) -> None:
    program(bin_folder, "wl-copy", f"cat > {shlex.quote(str(tmp_path / 'got'))}")
    sent: list[str] = []
    assert await copy(TEXT, sent.append, environ(bin_folder, WAYLAND_DISPLAY="w")) == "Copied."
    assert (tmp_path / "got").read_text() == TEXT
    assert sent == []


@pytest.mark.skipif(sys.platform == "darwin", reason="pbcopy comes first there")
async def test_clip_exe_receives_utf_16(bin_folder: Path, tmp_path: Path) -> None:
    program(bin_folder, "clip.exe", f"cat > {shlex.quote(str(tmp_path / 'got'))}")
    assert await copy(TEXT, None, environ(bin_folder, WSL_DISTRO_NAME="x")) == "Copied."
    assert (tmp_path / "got").read_bytes().decode("utf-16-le") == TEXT


async def test_the_next_way_is_tried_if_a_program_fails(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # for the last resort
    program(bin_folder, "xclip", "cat > /dev/null; exit 1")
    program(bin_folder, "xsel", "exit 1")  # does not even read
    sent: list[str] = []
    told = await copy(TEXT * 5000, sent.append, environ(bin_folder, DISPLAY=":9"))
    assert "Copied" not in told
    assert await copy(TEXT, sent.append, environ(bin_folder, DISPLAY=":9")) == (
        "Sent to the terminal's clipboard."
    )


async def test_a_program_that_hangs_is_killed(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "PROGRAM_TIMEOUT", 0.1)
    program(bin_folder, "xclip", "exec sleep 600")
    sent: list[str] = []
    assert "Sent" in await copy("text", sent.append, environ(bin_folder, DISPLAY=":9"))
    assert sent


@pytest.mark.skipif(sys.platform == "darwin", reason="pbcopy comes first there")
def test_only_programs_that_reach_the_user_are_used(bin_folder: Path) -> None:
    for name in ("wl-copy", "xclip", "clip.exe", "tmux"):
        program(bin_folder, name, "exit 0")
    assert at_work(bin_folder) == []
    assert at_work(bin_folder, WAYLAND_DISPLAY="w", DISPLAY=":0") == ["wl-copy", "xclip"]  # no xsel there
    assert at_work(bin_folder, DISPLAY=":0", SSH_CONNECTION="a b c d") == []
    assert at_work(bin_folder, SSH_TTY="/dev/pts/1", TMUX="/tmp/t,1,0") == ["tmux"]


# --------------------------------------------------------------------------- the terminal


async def test_osc_52_is_sent_without_a_claim_of_success(tmp_path: Path) -> None:
    sent: list[str] = []
    told = await copy(TEXT, sent.append, {"TERM": "xterm", "PATH": ""})
    assert told == "Sent to the terminal's clipboard."
    assert sent == [f"\x1b]52;c;{base64.b64encode(TEXT.encode()).decode()}\x07"]


def test_osc_52_is_wrapped_for_multiplexers() -> None:
    assert wrap_for_multiplexer("\x1b]9;x\x07", {"TMUX": "t"}) == "\x1bPtmux;\x1b\x1b]9;x\x07\x1b\\"
    assert osc52("QQ==", {"TMUX": "t"}) == "\x1b]52;c;QQ==\x07\x1bPtmux;\x1b\x1b]52;c;QQ==\x07\x1b\\"
    long = osc52("Q" * 1000, {"STY": "s"})
    pieces = long.removeprefix("\x1bP").removesuffix("\x1b\\").split("\x1b\\\x1bP")
    assert "".join(pieces) == f"\x1b]52;c;{'Q' * 1000}\x07"
    assert max(map(len, pieces)) <= SCREEN_LIMIT


@pytest.mark.parametrize(
    ("text", "term", "why"),
    [
        ("x" * MAX_BASE64_CHARS, "xterm", "The text is too large for the terminal's clipboard"),
        ("x", "linux", "has no clipboard"),
    ],
)
async def test_the_text_is_written_to_a_private_file_if_nothing_else_works(
    text: str, term: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sent: list[str] = []
    told = await copy(text, sent.append, {"TERM": term, "PATH": ""})
    assert why in told
    (file,) = tmp_path.glob("acp-tui-*.txt")
    assert told.endswith(str(file))
    assert file.read_text() == text
    assert file.stat().st_mode & 0o777 == 0o600
    assert sent == []


async def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/dev/null")
    assert "could not be saved" in await copy("x", None, {"PATH": ""})


# --------------------------------------------------------------------------- in the program


async def test_y_copies_the_last_answer(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["say", "the answer"], ["update", {"sessionUpdate": "tool_call", "toolCallId": "c",
                        "title": "Read it", "kind": "read", "status": "completed"}])  # fmt: skip
        await ui.until(lambda: ui.session.phase == "idle" and ui.session.turn == 1)
        ui.transcript.focus()
        await ui.press("y")
        await ui.until(lambda: "Sent to the terminal's clipboard." in ui.toasts())
        assert ui.app.clipboard == "the answer"
        await ui.press("c")  # the entry that is marked, the last one
        await ui.until(lambda: ui.app.clipboard == "Read it")
        await ui.press("y")
        await ui.until(lambda: ui.app.clipboard == "the answer")


@pytest.mark.parametrize("between", [{}, {"STY": "1.x"}], ids=["alone", "in screen"])
def test_osc_52_reaches_a_real_terminal(tmp_path: Path, between: dict[str, str]) -> None:
    with PreloadedTerminal("replay", RECORDED, "--speed", "max", cwd=tmp_path, **between) as terminal:
        terminal.wait_for(LAST)
        terminal.type("y")
        expected = wrap_for_multiplexer(OSC, between).encode()
        terminal.until(lambda: expected in terminal.raw, "the sequence")
        terminal.wait_for("Sent to the terminal's clipboard.")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Start a tmux server for the test."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    socket = tmp_path / "t"
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"}

    def call(*words: str) -> str:
        command = ["tmux", "-S", str(socket), "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stdout

    yield call
    call("kill-server")
    wait_until(lambda: processes_with(str(socket)) == [])  # what ran in it has it in its environment


@pytest.mark.parametrize("way", ["its program", "the sequence"])
def test_inside_tmux_the_text_is_in_its_buffer(tmux: Callable[..., str], way: str, tmp_path: Path) -> None:
    path = os.environ["PATH"] if way == "its program" else str(tmp_path / "nothing")
    command = f"PATH={shlex.quote(path)} {shlex.quote(PROGRAM)} replay {shlex.quote(RECORDED)} --speed max"
    tmux("new-session", "-d", "-x", "100", "-y", "30", "cat")
    tmux("set-option", "-s", "set-clipboard", "external" if way == "its program" else "on")
    tmux("respawn-pane", "-k", command)
    wait_until(lambda: LAST in tmux("capture-pane", "-p"))
    tmux("send-keys", "y")
    wait_until(lambda: tmux("show-buffer") == f"{LAST}\n")
    told = "Copied (tmux buffer" if way == "its program" else "Sent to the terminal's clipboard"
    wait_until(lambda: told in tmux("capture-pane", "-p").replace("\n", " "))
