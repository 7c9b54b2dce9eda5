"""Ctrl+Z, `fg` and `bg` in a shell with job control."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import MODES_OFF, MODES_ON, PreloadedTerminal, Shell, Terminal

if TYPE_CHECKING:
    from pathlib import Path

MOVES = re.compile(rb"\x1b\[(\d+);(\d+)H")
"""Where the cursor is put."""


def test_the_screen_is_drawn_again_after_fg(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        before = terminal.settings
        terminal.start("--command", agent("script"))
        terminal.wait_for("Message scripted", "idle")
        for _ in range(2):
            suspend(terminal)
            terminal.type("fg\n")
            terminal.wait_for("Message scripted")
        pid = next(pid for pid in terminal.left_behind() if pid != terminal.process.pid)
        terminal.type("hello")
        terminal.wait_for("hello")
        os.kill(pid, signal.SIGSTOP)
        terminal.wait_for("Stopped", "SHELL> ")
        terminal.type("fg\n")
        terminal.wait_for("hello", "idle")
        terminal.type("\r")
        terminal.wait_for("┃ hello")
        assert terminal.quit() == 0
        assert_given_back(terminal)
        assert terminal.settings == before


def test_the_launcher_can_be_suspended(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        terminal.start("--choose")
        terminal.wait_for("Demo agent")
        suspend(terminal)
        terminal.type("fg\n")
        terminal.wait_for("Demo agent")
        assert terminal.quit() == 0
        assert_given_back(terminal)


def test_changes_and_a_new_size_are_shown_after_fg(tmp_path: Path) -> None:
    go = tmp_path / "go"
    with Shell(cwd=tmp_path) as terminal:
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type(f'[["wait_for_file", "{go}"], ["repeat", 20000, "word "], ["say", "The last word."]]\r')
        terminal.wait_for("working")
        suspend(terminal)
        go.touch()
        terminal.resize(60, 20)
        terminal.type("fg\n")
        terminal.wait_for("The last word.")
        terminal.type("more")
        terminal.wait_for("more")
        terminal.until(lambda: _fits(terminal, 60, 20), "the new size")
        terminal.wait_for("idle")
        assert terminal.quit() == 0


def test_bg_stops_the_program_again_fg_draws_it_and_a_signal_ends_it(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        before = terminal.settings
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        suspend(terminal)
        terminal.type("bg\n")
        terminal.wait_for("&", "SHELL> ")
        terminal.until(lambda: "Stopped" in _jobs(terminal))
        assert_given_back(terminal)
        terminal.type("fg\n")
        terminal.wait_for("idle")
        suspend(terminal)
        terminal.type("bg; fg\n")
        terminal.wait_for("idle")
        suspend(terminal)
        terminal.type("kill %1\n")
        terminal.until(lambda: "Exit 143" in _jobs(terminal), "the end")
        assert_given_back(terminal)
        assert terminal.settings == before


def test_an_open_editor_is_suspended_too(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho EDITING\nread line\necho "$line" > "$1"\n')
    editor.chmod(0o700)
    with Shell(cwd=tmp_path, VISUAL=str(editor)) as terminal:
        terminal.start("--command", agent("script"))
        terminal.wait_for("idle")
        terminal.type("\x07")
        terminal.wait_for("EDITING")
        suspend(terminal)
        terminal.type("fg\n")
        terminal.wait_for("acp-tui")
        terminal.type("edited\n")
        terminal.wait_for("idle")
        terminal.type("\r")
        terminal.wait_for("┃ edited")
        assert terminal.quit() == 0
        assert_given_back(terminal)


def test_without_a_shell_neither_ctrl_z_nor_sigcont_changes_the_input(tmp_path: Path) -> None:
    """As in a terminal window that runs the program directly."""
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        terminal.type("\x1a")
        terminal.until(lambda: terminal.raw.count(MODES_ON[-1]) == 2)  # the last that is turned on
        terminal.type("still here\r")
        terminal.wait_for("┃ still here")
        for times in (1, 3):
            turned_on = terminal.raw.count(MODES_ON[-1])
            for _ in range(times):
                terminal.signal(signal.SIGCONT)
            terminal.until(lambda: terminal.raw.count(MODES_ON[-1]) > turned_on)  # noqa: B023
            terminal.type(f"each letter once, {times}\r")
            terminal.wait_for(f"┃ each letter once, {times}")
        assert terminal.quit() == 0
        assert_given_back(terminal)
        assert terminal.settings == terminal.before


def suspend(terminal: Terminal) -> None:
    """Press Ctrl+Z and wait for the shell, which has the terminal then."""
    terminal.type("\x1a")
    terminal.wait_for("Stopped", "SHELL> ")
    assert_given_back(terminal)


def _fits(terminal: Terminal, columns: int, rows: int) -> bool:
    """Return True if the last cursor movements are within this size."""
    return all(
        int(row) <= rows and int(column) <= columns for row, column in MOVES.findall(terminal.raw)[-20:]
    )


def _jobs(terminal: Terminal) -> str:
    """Return the shell's list of jobs."""
    terminal.type("jobs\n")
    terminal.wait_for("jobs", "SHELL> ")
    return terminal.raw[terminal.raw.rindex(b"SHELL> ", 0, -len("SHELL> ")) :].decode()


def assert_given_back(terminal: Terminal) -> None:
    for on, off in zip(MODES_ON, MODES_OFF, strict=True):
        assert terminal.raw.rfind(off) > terminal.raw.rfind(on) >= 0, off
