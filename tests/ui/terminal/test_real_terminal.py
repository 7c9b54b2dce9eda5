"""The installed program on a real terminal, which it leaves as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import MODES_OFF, MODES_ON, PreloadedTerminal, Terminal

if TYPE_CHECKING:
    from pathlib import Path


def assert_sane(terminal: Terminal) -> None:
    """Assert that all terminal modes were reset."""
    for on, off in zip(MODES_ON, MODES_OFF, strict=True):
        assert terminal.raw.rfind(off) > terminal.raw.rfind(on) >= 0, off
    assert terminal.settings == terminal.before
    assert b"Traceback" not in terminal.raw


def test_the_program_starts_answers_what_was_typed_meanwhile_and_quits(tmp_path: Path) -> None:
    with Terminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.type("typed at once")
        terminal.wait_for("❯ typed at once")
        terminal.type(" and later\r")
        terminal.wait_for("┃ typed at once and later", "   typed at once and later", "idle")
        assert terminal.quit() == 0
        assert_sane(terminal)
        assert "Replay this conversation with: acp-tui replay " in terminal.raw.decode()
        assert terminal.left_behind() == []


def test_keys_pasted_text_and_bytes_that_are_not_utf_8_become_text_in_their_order(
    tmp_path: Path, home: Path
) -> None:
    pasted = (
        "one \x1b[31mred\x1b[0m \x07\x11\x1bx\x1b]0;title\x07 and\rtwo\u202e"  # Ctrl+G, Ctrl+Q, Alt+X, Enter
    )
    offers = json.dumps({"capabilities": {"loadSession": True}})
    with PreloadedTerminal("--command", agent("script", offers), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        terminal.type("teh\x7f\x7fhe first\rand the\x15the second\r")
        terminal.wait_for("┃ the first", "┃ the second")
        terminal.type("two\x1b\rlines\x1bs")  # Alt+Enter and Alt+S, as most terminals send them
        terminal.wait_for("┃ two", "┃ lines")
        terminal.sees("idle")
        terminal.type(f"\x1b[200~{pasted}\x1b[201~ end")
        terminal.wait_for("end")
        terminal.type("\r")
        terminal.wait_for("┃ one red x and", "┃ two end")
        terminal.sees("idle")
        terminal.type(b"caf\xe9 \xff\xfe and \xc3\xa9t\xc3\xa9\r")
        terminal.wait_for("┃ caf\ufffd \ufffd\ufffd and été")
        assert terminal.quit() == 0
        assert "Resume this conversation with: acp-tui --resume " in terminal.raw.decode()
        assert_sane(terminal)
    log = home / "state" / "acp-tui.log"
    assert not log.exists() or log.read_text(encoding="utf-8") == ""


def test_an_unknown_agent_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with PreloadedTerminal("no-such-agent", cwd=tmp_path) as terminal:
        assert terminal.ended() != 0
        assert "acp-tui: " in terminal.raw.decode()
        assert "no-such-agent" in terminal.raw.decode()
        assert_sane(terminal)


def test_a_terminal_sign_in_runs_the_agents_program(tmp_path: Path) -> None:
    file = tmp_path / "signed-in"
    methods = f'[{{"id": "shell", "name": "Here", "type": "terminal", "args": ["{file}", "--login"]}}]'
    command = f"{agent('signs_in', methods)} {file}"
    with PreloadedTerminal("--command", command, cwd=tmp_path) as terminal:
        terminal.wait_for("Choose a sign-in method", "Here")
        terminal.type("\r")
        terminal.wait_for("Sign in? ")
        terminal.type("no\n")
        terminal.wait_for("Choose a sign-in method", "failed (exit code 1)")
        terminal.type("\r")
        terminal.wait_for("Sign in? ")
        terminal.type("\x03")  # ends the sign-in, but not acp-tui
        terminal.wait_for("Choose a sign-in method", "ended by signal 2")
        terminal.type("\r")
        terminal.wait_for("Sign in? ")
        terminal.type("yes\n")
        terminal.wait_for("idle")
        assert file.exists()
        assert terminal.quit() == 0
        assert_sane(terminal)
