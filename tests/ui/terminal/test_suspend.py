"""Ctrl+Z and `fg`, in a shell with jobs."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.conversation_ui import agent
from tests.support.terminal import OFF, ON, Shell, Terminal

if TYPE_CHECKING:
    from pathlib import Path

MOVES = re.compile(rb"\x1b\[(\d+);(\d+)H")
"""Where the cursor is put."""


@pytest.mark.parametrize(
    ("args", "shown"),
    [(["--command", agent("script")], "Message scripted"), (["--choose"], "Demo agent")],
    ids=["a conversation", "the launcher"],
)
def test_the_shell_has_the_terminal_and_then_everything_is_drawn_again(
    tmp_path: Path, args: list[str], shown: str
) -> None:
    with Shell(cwd=tmp_path) as terminal:
        before = terminal.settings
        terminal.start(*args)
        terminal.wait_for(shown)
        for _ in range(2):
            terminal.type("\x1a")
            terminal.wait_for("Stopped", "SHELL> ")
            assert_given_back(terminal)
            terminal.type("fg\n")
            terminal.wait_for(shown)
        terminal.type("\x11")
        assert terminal.code() == 0
        assert_given_back(terminal)
        assert terminal.settings == before


def test_what_came_meanwhile_and_a_new_size_are_shown(tmp_path: Path) -> None:
    go = tmp_path / "go"
    with Shell(cwd=tmp_path) as terminal:
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type(f'[["wait_for_file", "{go}"], ["repeat", 20000, "word "], ["say", "The last word."]]\r')
        terminal.wait_for("working")
        terminal.type("\x1a")
        terminal.wait_for("Stopped", "SHELL> ")
        go.touch()
        terminal.resize(60, 20)
        terminal.type("fg\n")
        terminal.wait_for("The last word.")
        terminal.type("more")
        terminal.wait_for("more")
        terminal.until(lambda: _fits(terminal, 60, 20), "the new size")
        terminal.wait_for("idle")
        terminal.type("\x11")
        assert terminal.code() == 0


def test_in_the_background_it_sleeps_on(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type("\x1a")
        terminal.wait_for("Stopped", "SHELL> ")
        terminal.type("bg\n")
        terminal.wait_for("&", "SHELL> ")
        terminal.until(lambda: "Stopped" in _jobs(terminal))
        assert_given_back(terminal)
        terminal.type("fg\n")
        terminal.wait_for("idle")
        terminal.type("\x11")
        assert terminal.code() == 0
        assert_given_back(terminal)


def test_in_the_background_for_a_moment_only(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type("\x1a")
        terminal.wait_for("Stopped", "SHELL> ")
        terminal.type("bg; fg\n")
        terminal.wait_for("idle")
        terminal.type("\x11")
        assert terminal.code() == 0
        assert_given_back(terminal)


def test_an_editor_sleeps_with_it(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho EDITING\nread line\necho "$line" > "$1"\n')
    editor.chmod(0o700)
    with Shell(cwd=tmp_path, VISUAL=str(editor)) as terminal:
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type("\x07")
        terminal.wait_for("EDITING")
        terminal.type("\x1a")
        terminal.wait_for("Stopped", "SHELL> ")
        terminal.type("fg\n")
        terminal.wait_for("acp-tui")
        terminal.type("edited\n")
        terminal.wait_for("idle")
        terminal.type("\r")
        terminal.wait_for("┃ edited")
        terminal.type("\x11")
        assert terminal.code() == 0
        assert_given_back(terminal)


def test_it_ends_in_order_while_it_sleeps(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        before = terminal.settings
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type("\x1a")
        terminal.wait_for("Stopped", "SHELL> ")
        terminal.type("kill %1\n")
        terminal.until(lambda: "Exit 143" in _jobs(terminal), "the end")
        assert_given_back(terminal)
        assert terminal.settings == before


def test_a_stop_that_nobody_asked_it_about(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        before = terminal.settings
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        pid = next(pid for pid in terminal.left_behind() if pid != terminal.process.pid)
        terminal.type("hello")
        terminal.wait_for("hello")
        os.kill(pid, signal.SIGSTOP)
        terminal.wait_for("Stopped", "SHELL> ")
        terminal.type("fg\n")
        terminal.wait_for("hello", "idle")
        terminal.type("\r")
        terminal.wait_for("┃ hello")
        terminal.type("\x11")
        assert terminal.code() == 0
        assert_given_back(terminal)
        assert terminal.settings == before


def test_where_nobody_could_wake_it_it_does_not_sleep(tmp_path: Path) -> None:
    """As in a window of its own, without a shell."""
    with Terminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        terminal.type("\x1a")
        terminal.until(lambda: terminal.raw.count(ON[-1]) == 2)
        terminal.type("still here\r")
        terminal.wait_for("┃ still here")
        terminal.type("\x11")
        assert terminal.ended() == 0
        assert terminal.settings == terminal.before


@pytest.mark.parametrize("times", [1, 3])
def test_being_woken_without_having_slept(tmp_path: Path, times: int) -> None:
    with Terminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        for _ in range(times):
            terminal.signal(signal.SIGCONT)
        terminal.until(lambda: terminal.raw.count(ON[-1]) > 1)  # the last that is turned on
        terminal.type("each letter once\r")
        terminal.wait_for("┃ each letter once")
        terminal.type("\x11")
        assert terminal.ended() == 0
        assert_given_back(terminal)
        assert terminal.settings == terminal.before


def _fits(terminal: Terminal, columns: int, rows: int) -> bool:
    """Is what was drawn last within these?"""
    return all(
        int(row) <= rows and int(column) <= columns for row, column in MOVES.findall(terminal.raw)[-20:]
    )


def _jobs(terminal: Terminal) -> str:
    """What the shell says of them."""
    terminal.type("jobs\n")
    terminal.wait_for("jobs", "SHELL> ")
    return terminal.raw[terminal.raw.rindex(b"SHELL> ", 0, -len("SHELL> ")) :].decode()


def assert_given_back(terminal: Terminal) -> None:
    for on, off in zip(ON, OFF, strict=True):
        assert terminal.raw.rfind(off) > terminal.raw.rfind(on) >= 0, off
