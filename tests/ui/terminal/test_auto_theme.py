"""The theme "auto" in a terminal that answers early, late, in pieces, or not at all."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from acp_tui.ui.terminal.passthrough import ASK_COLOUR, REPORT_CHANGES, STOP_REPORTS
from tests.support.conversation_ui import agent
from tests.support.terminal import QUIT, PreloadedTerminal, Shell, Terminal

if TYPE_CHECKING:
    from pathlib import Path

LIGHT, DARK = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:0000/0000/0000\x07"
LIGHT_PAGE, DARK_PAGE, NORD_PAGE = b"48;2;251;250;247", b"48;2;21;23;28", b"48;2;46;52;64"
BUSY, NO_PROGRESS = b"\x1b]9;4;3;0\x1b\\", b"\x1b]9;4;0;0\x1b\\"
NORD_TITLE = b"38;2;236;239;244;48;2;52;59;73mscripted"
TRUE_COLOUR = {"COLORTERM": "truecolor"}


def test_a_late_reply_in_pieces_changes_the_theme_and_is_not_typed(tmp_path: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path, **TRUE_COLOUR) as terminal:
        terminal.until(
            lambda: ASK_COLOUR.encode() in terminal.raw and REPORT_CHANGES.encode() in terminal.raw
        )
        terminal.sees("idle")
        assert DARK_PAGE in terminal.raw
        assert LIGHT_PAGE not in terminal.raw
        terminal.type(f"one{LIGHT[:9]}")
        terminal.sees("❯ one")
        terminal.type(LIGHT[9:])
        terminal.type(" two")
        terminal.sees("❯ one two")
        terminal.until(lambda: LIGHT_PAGE in terminal.raw, "the light theme")
        seen = len(terminal.raw)
        terminal.type("\x1b[?997;2n\x1b[?997;1n")  # the scheme at the start, and a change
        terminal.until(lambda: ASK_COLOUR.encode() in terminal.raw[seen:], "the question for the new colour")
        terminal.type(f" thr{DARK}ee\r")
        terminal.sees("┃ one two three")
        terminal.until(lambda: DARK_PAGE in terminal.raw[seen:], "the dark theme")
        assert terminal.quit() == 0
        assert_reports_are_off(terminal)
        assert terminal.settings == terminal.before


def test_an_early_reply_and_the_users_own_light_theme(tmp_path: Path, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text('theme_light = "nord"\n')
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path, **TRUE_COLOUR) as terminal:
        terminal.type(f"a{LIGHT}b")
        terminal.sees("❯ ab")
        terminal.until(lambda: NORD_PAGE in terminal.raw, "the theme")
        terminal.until(lambda: NORD_TITLE in terminal.raw, "the agent's title in the colour of the theme")
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        assert_reports_are_off(terminal)


def test_reports_and_progress_are_off_while_another_program_has_the_terminal(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path, TERM_PROGRAM="ghostty") as terminal:
        terminal.start("--command", agent("script"))
        terminal.sees("idle")
        terminal.type('[["wait_for_cancel"]]\r')
        terminal.until(lambda: BUSY in terminal.raw, "the progress")
        terminal.type("\x1a")
        terminal.wait_for("Stopped", "SHELL> ")
        assert_modes_are_off(terminal)
        terminal.type("fg\n")
        terminal.sees("working")
        terminal.until(lambda: terminal.raw.count(REPORT_CHANGES.encode()) == 2, "the mode")
        terminal.until(lambda: terminal.raw.rfind(BUSY) > terminal.raw.rfind(NO_PROGRESS), "the progress")
        assert terminal.quit() == 0
        assert_modes_are_off(terminal)


@pytest.mark.parametrize("theme", ["dark", "ansi"])
def test_with_another_theme_the_terminal_is_not_asked(tmp_path: Path, theme: str) -> None:
    with PreloadedTerminal("--theme", theme, "--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.sees("idle")
        terminal.type(f"{LIGHT}typed")
        terminal.sees("❯ typed")
        terminal.type(QUIT)
        assert terminal.ended() == 0
        assert b"]11;" not in terminal.raw
        assert b"2031" not in terminal.raw
        assert LIGHT_PAGE not in terminal.raw


def assert_reports_are_off(terminal: Terminal) -> None:
    assert terminal.raw.rfind(STOP_REPORTS.encode()) > terminal.raw.rfind(REPORT_CHANGES.encode()) >= 0


def assert_modes_are_off(terminal: Terminal) -> None:
    assert_reports_are_off(terminal)
    assert terminal.raw.rfind(NO_PROGRESS) > terminal.raw.rfind(BUSY) >= 0
