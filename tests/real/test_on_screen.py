"""The screen with real agents in a real terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.real.conftest import launcher
from tests.real.test_real_agents import AGENTS, WITH_TOOLS
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


ANSWERS = {
    "ts-example": "prefer not to make that change",
    "py-echo": "  mock:plain",  # the echo; the user's own message has a bar
    "py-example": "Client sent:mock:plain",
}


def open_terminal(name: str, project: Path) -> Terminal:
    return Terminal("--command", launcher(name), cwd=project)


def quit_app(terminal: Terminal) -> None:
    terminal.type("\x11\x11")  # Ctrl+Q twice, in case the turn has not ended
    assert terminal.ended() == 0
    assert b"Traceback" not in terminal.raw
    assert terminal.left_behind() == []


@pytest.mark.parametrize("name", AGENTS)
def test_the_agent_answers(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.wait_for("idle")
        terminal.type("mock:plain\r")
        if name == "ts-example":  # asks to change a file after every prompt
            terminal.wait_for("asks to change a file", "config.json", "Enter answer")
            terminal.type("r")
        terminal.wait_for(ANSWERS.get(name, "short answer"))
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_an_edit_is_shown_with_its_line_and_made_when_allowed(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.wait_for("idle")
        terminal.type(f"mock:edit {project}/notes.txt two 2\r")
        terminal.wait_for("asks to change a file", "one two three", "one 2 three", "Enter answer")
        terminal.type("a")
        terminal.wait_for("+1", "I replaced")
        assert (project / "notes.txt").read_text() == "one 2 three\n"
        assert "acts without asking" not in terminal.raw.decode(errors="replace")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_command_runs_when_allowed_and_its_output_is_shown(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.wait_for("idle")
        terminal.type("mock:shell python3 -c 'print(6 * 7, 8 * 9)'\r")
        terminal.wait_for("asks to run a command", "Enter answer")
        terminal.type("a")
        terminal.wait_for("42 72", "The command ran.")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_finished_thought_is_folded(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.wait_for("idle")
        terminal.type("mock:think\r")
        terminal.wait_for("thought for", "After thinking")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_escape_stops_the_turn(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.wait_for("idle")
        terminal.type("mock:long 4000\r")
        terminal.wait_for("streamed answer")
        terminal.type("\x1b")
        terminal.wait_for("stopped", "idle")
        quit_app(terminal)
