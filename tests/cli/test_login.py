"""`acp-tui login` and `acp-tui logout`."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli.agent_sign_in import SignInDialogue
from tests.support.cli import Run, agent, run, running
from tests.support.terminal import PreloadedTerminal
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

METHODS: list[dict[str, Any]] = [
    {"id": each, "name": f"By {each}"} for each in ("login", "fails", "empty", "late")
]
METHODS += [
    {"id": "shell", "name": "Here", "type": "terminal", "args": ["signed-in", "--login"]},
    {"id": "key", "name": "Key", "type": "env_var", "vars": ["SOME_KEY"]},
]


def program(*methods: dict[str, Any]) -> str:
    return agent("signs_in", json.dumps(methods or METHODS), "signed-in")


def login(tmp_path: Path, *args: str) -> Run:
    return run("login", "--command", program(), *args, cwd=tmp_path)


def test_a_sign_in_by_the_agent_is_checked_and_shows_what_the_agent_says(tmp_path: Path) -> None:
    done = login(tmp_path, "--method", "By login", "--json")
    assert (done.code, done.result["method"], done.result["signed_in"]) == (0, "login", True)
    assert "Contacting the account server" in done.err


def test_an_unfinished_line_of_stderr_is_printed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    dialogue = SignInDialogue()
    first, second = "Visit\nEnter the codé\x1b[0m:".encode().split(b"\xc3")
    dialogue.agent_stderr(first)
    assert capsys.readouterr().err == "  │ Visit\n  │ Enter the cod"
    dialogue.agent_stderr(b"\xc3")
    dialogue.agent_stderr(second)
    assert capsys.readouterr().err == "é␛[0m:"
    dialogue.agent_text("Thanks")
    dialogue.agent_stderr(b"done\r\n")
    dialogue.say("Signed in.")
    assert capsys.readouterr().err == "\n  │ Thanks\n  │ done\nSigned in.\n"


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["--method", "fails"], 1, "No network"),
        (["--method", "empty"], 1, "had no effect"),
        (["--method", "shell"], 2, "needs a terminal"),
        (["--method", "key"], 1, "set SOME_KEY in the environment"),
        (["--method", "other"], 2, "has no sign-in method"),
        ([], 2, "choose a method with --method ID"),
    ],
)
def test_a_failed_login_says_why(tmp_path: Path, args: list[str], code: int, sentence: str) -> None:
    done = login(tmp_path, *args)
    assert (done.code, done.out) == (code, "")
    assert sentence in done.err


def test_ctrl_c_cancels_a_sign_in_that_waits(tmp_path: Path) -> None:
    with running("login", "--command", program(), "--method", "late", cwd=tmp_path) as (process, _):
        assert process.stderr is not None
        heard = b""
        while b"device?code" not in heard:
            heard += process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert b"The sign-in was cancelled." in process.stderr.read()


def test_logging_out_needs_an_agent_that_offers_it(tmp_path: Path) -> None:
    assert run("logout", "--command", program(), cwd=tmp_path).code == 0
    done = run("logout", "--command", agent("script"), cwd=tmp_path)
    assert done.code == 1
    assert "does not support signing out" in done.err


def test_a_method_is_chosen_on_a_terminal_and_its_program_run(tmp_path: Path) -> None:
    with PreloadedTerminal("login", "--command", program(), cwd=tmp_path) as terminal:
        terminal.wait_for("5. Here", "6. Key", "Sign in with which method?")
        terminal.type("5\n")
        terminal.wait_for("Sign in? ")
        terminal.type("\x03")
        assert terminal.ended() == 1
        assert "ended by signal 2" in terminal.screen
    with PreloadedTerminal("login", "--command", program(), "--method", "shell", cwd=tmp_path) as terminal:
        terminal.wait_for("Sign in? ")
        terminal.type("yes\n")
        assert terminal.ended() == 0
        assert "Signed in to scripted with Here." in terminal.screen
        wait_until(lambda: terminal.left_behind() == [])


def test_a_suggested_command_is_run_only_after_a_question(tmp_path: Path) -> None:
    command = {"command": sys.executable, "args": ["-c", 'open("signed-in", "w")'], "env": {"WHO": "me"}}
    method = {"id": "login", "name": "Log in", "_meta": {"terminal-auth": command}}
    words = ["login", "--command", program(method), "--method", "login"]
    with PreloadedTerminal(*words, cwd=tmp_path) as terminal:
        terminal.wait_for("open(", "signed-in", "WHO=me", "Run it in this terminal?")
        terminal.type("\n")
        assert terminal.ended() == 1
        assert not (tmp_path / "signed-in").exists()
    with PreloadedTerminal(*words, cwd=tmp_path) as terminal:
        terminal.wait_for("Run it in this terminal?")
        terminal.type("y\n")
        assert terminal.ended() == 0
        assert (tmp_path / "signed-in").exists()
