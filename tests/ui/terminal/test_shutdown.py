"""The end of the program by signals and closed terminals, at all stages."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from tests.support.conversation_ui import agent
from tests.support.preloaded import PreloadedProgram
from tests.support.recordings import WIRELOGS
from tests.support.terminal import (
    MODES_OFF,
    MODES_ON,
    PROGRAM,
    REPOSITORY,
    PreloadedTerminal,
    Shell,
    Terminal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDING = next(path for path in WIRELOGS if path.stem == "claude-code-edit")
EDITOR = """#!/bin/sh
echo 'saved in the editor' > "$1"
echo EDITING
exec sleep 1000
"""


def assert_in_order(terminal: Terminal, home: Path) -> None:
    """Assert that the terminal was restored, nothing failed and no process is left."""
    assert terminal.left_behind() == []
    log = home / "state" / "acp-tui.log"
    assert not log.exists() or log.read_text(encoding="utf-8") == ""
    if terminal.hung_up:
        return
    assert terminal.settings == terminal.before
    for on, off in zip(MODES_ON, MODES_OFF, strict=True):
        assert terminal.raw.rfind(off) >= terminal.raw.rfind(on), off
    assert b"Warning" not in terminal.raw
    assert b"Traceback" not in terminal.raw


# --------------------------------------------------------------------------- what it comes amid


def first_frame(terminal: Terminal) -> None:
    terminal.until(lambda: MODES_ON[0] in terminal.raw)


def connecting(terminal: Terminal) -> None:
    terminal.wait_for("starting")


def flood(terminal: Terminal) -> None:
    terminal.wait_for("Message Flood")
    terminal.type("flood 100000 40 text\r")
    terminal.until(lambda: "Why it failed" in terminal.new_text())


def processes(terminal: Terminal) -> None:
    terminal.wait_for("Message scripted")
    terminal.type("go\r")
    terminal.until(lambda: len(terminal.left_behind()) > 6)  # acp-tui, watcher, agent, and what it started


def question(terminal: Terminal) -> None:
    terminal.wait_for("Message scripted")
    terminal.type('[["permission", {"title": "May I?"}]]\r')
    terminal.wait_for("May I?", "allow_once")


def editor(terminal: Terminal) -> None:
    terminal.wait_for("idle")
    terminal.type("\x07")  # Ctrl+G
    terminal.wait_for("EDITING")


def signing_in(terminal: Terminal) -> None:
    terminal.wait_for("Choose a sign-in method", "Here")
    terminal.type("\r")
    terminal.wait_for("Sign in? ")


def quitting(terminal: Terminal) -> None:
    terminal.wait_for("idle")
    terminal.type("\x11")  # Ctrl+Q
    terminal.until(lambda: MODES_OFF[0] in terminal.raw)


def launcher(terminal: Terminal) -> None:
    terminal.wait_for("Demo agent")


def replay(terminal: Terminal) -> None:
    terminal.wait_for("write")


SIGN_IN = '[{"id": "shell", "name": "Here", "type": "terminal", "args": ["signed-in", "--login"]}]'
STAGES: dict[str, tuple[Callable[[Terminal], None], list[str]]] = {
    "the first frame": (first_frame, ["--command", agent("script")]),
    "connecting": (connecting, ["--command", agent("faulty", "never_answers")]),
    "a flood": (flood, ["--command", agent("flood_agent")]),
    "processes of the agent's": (processes, ["--command", agent("faulty", "leaves_processes")]),
    "a question": (question, ["--command", agent("script")]),
    "an editor": (editor, ["--command", agent("script")]),
    "a sign-in": (signing_in, ["--command", f"{agent('signs_in', SIGN_IN)} signed-in"]),
    "the end": (quitting, ["--command", agent("faulty", "ignores_sigterm_and_end_of_input")]),
    "the launcher": (launcher, ["--choose"]),
    "a replay": (replay, ["replay", str(RECORDING), "--speed", "10"]),
}


@pytest.fixture
def start(tmp_path: Path) -> Callable[[str], Terminal]:
    """Start acp-tui and bring it to a stage."""

    def started(stage: str) -> Terminal:
        program = tmp_path / "editor"
        program.write_text(EDITOR)
        program.chmod(0o700)
        reach, args = STAGES[stage]
        kind = Terminal if stage == "the first frame" else PreloadedTerminal
        terminal = kind(*args, cwd=tmp_path, VISUAL=str(program))
        try:
            reach(terminal)
        except BaseException:
            terminal.__exit__()
            raise
        return terminal

    return started


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        *((stage, signal.SIGINT) for stage in ("the first frame", "a flood", "the end")),
        *((stage, signal.SIGTERM) for stage in ("connecting", "processes of the agent's")),
        *((stage, signal.SIGTERM) for stage in ("an editor", "a sign-in", "a replay")),
        ("a question", signal.SIGHUP),
    ],
)
def test_a_signal_ends_the_program_in_order(
    start: Callable[[str], Terminal], home: Path, stage: str, number: signal.Signals
) -> None:
    with start(stage) as terminal:
        terminal.signal(number)
        assert terminal.ended() == 128 + number
        assert_in_order(terminal, home)
    if stage == "an editor":  # what was saved in it is kept
        assert "saved in the editor" in (home / "state" / "drafts.jsonl").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody chooses the thread")
def test_a_signal_delivered_to_another_thread_ends_the_program(tmp_path: Path, home: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        tasks = Path(f"/proc/{terminal.process.pid}/task")
        looks: list[str] = []

        def rests() -> bool:
            """Return True if the main thread sleeps in six checks."""
            looks.append((tasks / f"{terminal.process.pid}/status").read_text().partition("voluntary")[2])
            return looks[-6:] == looks[-1:] * 6

        terminal.until(rests)
        threads = {int(task.name) for task in tasks.iterdir()} - {terminal.process.pid}
        os.kill(threads.pop(), signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        assert_in_order(terminal, home)


@pytest.mark.parametrize("stage", ["a flood", "an editor", "a sign-in", "the launcher"])
def test_closing_the_window_ends_the_program(
    start: Callable[[str], Terminal], home: Path, stage: str
) -> None:
    with start(stage) as terminal:
        terminal.hang_up()
        assert terminal.ended() == 128 + signal.SIGHUP
        assert_in_order(terminal, home)


def test_a_closed_terminal_without_sighup_ends_the_program(tmp_path: Path, home: Path) -> None:
    """A program outside of the terminal's session gets no SIGHUP."""
    with OutsideOfTheSession("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        terminal.type("/")
        terminal.hang_up()
        assert terminal.ended() == 128 + signal.SIGHUP
        assert_in_order(terminal, home)


class OutsideOfTheSession(PreloadedTerminal):
    """A terminal whose program belongs to another session."""

    def _start(
        self, args: tuple[str, ...], cwd: Path, terminal: int, environment: dict[str, str]
    ) -> PreloadedProgram:
        name = os.ttyname(terminal)
        return PreloadedProgram([*args], cwd, environment, (name, name, name))


def test_a_blocked_terminal_does_not_delay_the_end(start: Callable[[str], Terminal], home: Path) -> None:
    with start("a flood") as terminal:
        terminal.stop_reading()
        terminal.signal(signal.SIGTERM)
        assert terminal.process.wait() == 128 + signal.SIGTERM
        assert terminal.left_behind() == []
        assert terminal.settings == terminal.before


def test_several_signals_cause_one_shutdown(start: Callable[[str], Terminal], home: Path) -> None:
    with start("a flood") as terminal:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            terminal.signal(number)
        assert terminal.ended() in {128 + signal.SIGTERM, 128 + signal.SIGHUP, 128 + signal.SIGINT}
        assert_in_order(terminal, home)


def test_the_draft_is_saved_when_a_signal_comes(tmp_path: Path, home: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("idle")
        terminal.type("one\rnot sent yet")
        terminal.wait_for("not sent yet")
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
    (session,) = [path for path in (home / "data" / "sessions").iterdir() if path.is_dir()]
    with PreloadedTerminal("--resume", session.name, "--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("not sent yet")
        assert terminal.quit() == 0


def test_a_hanging_thread_does_not_prevent_the_end(tmp_path: Path, home: Path) -> None:
    """Python waits for threads, such as one that reads from a dead server."""
    (tmp_path / "sitecustomize.py").write_text(
        "import threading\n"
        "from acp_tui.cli import screen_runner\n"
        "screen_runner.SHUTDOWN_GRACE_SECONDS = 2\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
    )
    paths = f"{tmp_path}{os.pathsep}{REPOSITORY}"
    with Terminal("--command", agent("script"), cwd=tmp_path, PYTHONPATH=paths) as terminal:
        terminal.wait_for("idle")
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        # acp-tui exits by force here and leaves the rest to the watcher.
        terminal.until(lambda: terminal.left_behind() == [], "the end of all processes")
        assert_in_order(terminal, home)


def test_ctrl_c_before_the_first_frame_ends_the_program(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'acp_tui.cli.commands.run':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    paths = f"{tmp_path}{os.pathsep}{REPOSITORY}"
    with Terminal("--command", agent("script"), cwd=tmp_path, PYTHONPATH=paths) as terminal:
        assert terminal.ended() == 128 + signal.SIGINT
        assert terminal.raw == b""


# --------------------------------------------------------------------------- what does not end it


def test_redirected_stderr_does_not_receive_the_screen(tmp_path: Path) -> None:
    with Shell(cwd=tmp_path) as terminal:
        terminal.type(f"{PROGRAM} --choose 2> errors\n")
        terminal.wait_for("Demo agent")
        assert terminal.quit() == 0
        assert (tmp_path / "errors").read_bytes() == b""


def test_a_failing_editor_is_reported(tmp_path: Path, home: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path, VISUAL="false") as terminal:
        terminal.wait_for("idle")
        terminal.type("as before\x07")
        terminal.wait_for("exited with status 1")
        terminal.type("\r")
        terminal.wait_for("┃ as before")
        assert terminal.quit() == 0
        assert_in_order(terminal, home)


def test_titles_and_bells_are_dropped_while_another_program_has_the_terminal(tmp_path: Path) -> None:
    """They must not be written into the other program's screen."""
    with Ringing(cwd=tmp_path) as terminal:
        assert terminal.ended() == 0
        assert b"rung" in terminal.raw
        assert terminal.settings == terminal.before


class Ringing(Terminal):
    """An app that rings the bell while `true` uses the terminal."""

    program: ClassVar[list[str]] = [
        sys.executable,
        "-c",
        """
from acp_tui.ui.terminal.resilient_app import ResilientApp
from acp_tui.ui.terminal.suspend import release_terminal, run_program
from acp_tui.ui.terminal.passthrough import write_to_terminal

class Ring(ResilientApp):
    async def on_ready(self):
        with release_terminal(self):
            for _ in range(1000):
                write_to_terminal(self, "\a")
            await run_program(["true"])
        self.exit()

app = Ring()
app.run()
print("rung")
raise SystemExit(app.return_code)
""",
    ]
