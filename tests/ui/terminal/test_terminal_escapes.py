"""Hostile text in all messages of an agent, on a real terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.fake_agents.hostile import EVIL
from tests.support.conversation_ui import agent
from tests.support.terminal import ESCAPES, PreloadedTerminal, Terminal

if TYPE_CHECKING:
    from pathlib import Path

OURS = re.compile(
    rb"\x1b\[[0-9;]*[mH]"  # colours, places
    rb"|\x1b\[(?:\d+;\d+)?r|\x1b\[\d+L"  # scrolling
    rb"|\x1b\[\?(?:1049|1000|1003|1015|1006|1004|2004|2026|2031|2048|25|7)[hl]"  # modes
    rb"|\x1b\[\?(?:2026|2048)\$p|\x1b\[[<>=]\d*u|\x1b\[\?u"  # what the terminal can do
    rb"|\x1b\]11;\?\x07"  # which background the terminal has
    rb"|\x1b\]22;[a-z-]+\x07|\x1b\[2[23];2t"  # the mouse pointer; the window's title kept and put back
    rb"|\x1b\]2;[^\x00-\x1f\x7f]*\x07"  # the title of the window
    rb"|\x1b\]52;c;(?!cHduZWQ=)[A-Za-z0-9+/=]*\x07"  # what the user copied
    rb"|\x1b\]8;[^;\x07\x1b]*;[^\x00-\x1f\x7f]*\x1b\\"  # links
)
"""What the screen itself writes."""
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_no_text_of_an_agent_reaches_the_terminal_as_an_escape_sequence(tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_bytes(f"{EVIL} from a file\r\n".encode())
    with PreloadedTerminal("--command", agent("hostile"), "show-all", cwd=tmp_path) as terminal:
        look_at_everything(terminal)
        assert terminal.ended() == 0
        assert terminal.left_behind() == []
    assert_harmless(terminal.raw)


def test_no_text_of_a_sign_in_method_reaches_the_terminal_as_an_escape_sequence(tmp_path: Path) -> None:
    with PreloadedTerminal("--command", agent("hostile", "signed-out"), cwd=tmp_path) as terminal:
        terminal.wait_for("Choose a sign-in method")
        terminal.type(f"{DOWN}\r")  # by variables: they are only shown
        terminal.wait_for("restart acp-tui.")
        assert terminal.quit() == 0
    assert_harmless(terminal.raw)


ESC, CTRL_O, CTRL_Q, CTRL_U = "\x1b[27u", "\x0f", "\x11", "\x15"
DOWN, PAGE_DOWN, CTRL_HOME, ALT_UP = "\x1b[B", "\x1b[6~", "\x1b[1;5H", "\x1b[1;3A"


def look_at_everything(terminal: Terminal) -> None:
    """Bring every part of the conversation onto the screen."""
    type_, wait_for = terminal.type, terminal.wait_for
    wait_for("END OF ALL")
    type_("/")
    wait_for("cmd")
    type_("\x7f")
    wait_for("Message HOSTILE")
    type_("show-stop\r")
    wait_for("ended: reason")
    type_("show-permission\r")
    terminal.sees("2 more parts below", "Enter next part")
    type_("a")
    terminal.sees("1 more part below", "keys work once you stop typing")
    terminal.sees("1 more part below", "Enter next part")
    type_("a")
    terminal.sees("keys work once you stop typing")
    terminal.sees("Enter answer")
    type_("i")
    terminal.sees('"command": "command', "Esc close")
    type_(PAGE_DOWN)
    terminal.sees('"item ')
    type_("1")  # accepted at once, because the key before it only scrolled
    wait_for("idle")
    type_("show-error\r")
    wait_for("message")
    type_(f"{CTRL_U}show-terminal evil.txt\r")
    terminal.sees("to run a command", "Enter answer")
    type_("1")
    terminal.sees("to change a file", "Enter answer")
    type_("3")
    wait_for("idle")
    type_("show-death\r")
    wait_for("last words")
    type_(f"{CTRL_HOME}{PAGE_DOWN * 12}{ALT_UP}")
    wait_for("Space fold")
    type_("FFyC")
    for _ in range(20):
        type_(f" {ALT_UP}r")  # folded or unfolded, and the one before raw
        wait_for('"entry"')
        type_(ESC)
        wait_for("────")
    type_(CTRL_O)
    wait_for("Agent options")
    type_(CTRL_Q)


def assert_harmless(raw: bytes) -> None:
    """Assert that all escape sequences are known and there are no other control characters."""
    assert b"pwn" in raw  # it was shown, in stand-ins
    foreign = [found for found in ESCAPES.findall(raw) if not OURS.fullmatch(found)]
    assert foreign == []
    text = ESCAPES.sub(b"", raw).decode()
    assert {char for char in text if ord(char) < 32 or 127 <= ord(char) < 160} <= {"\r", "\n"}
    assert BIDI.findall(text) == []
    links = [found for found in ESCAPES.findall(raw) if found.startswith(b"\x1b]8")]
    assert not any(BIDI.search(link.decode()) or b"\xc2\x9b" in link for link in links)
