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


def send_prompt(terminal: Terminal, name: str) -> None:
    """Send a prompt and wait until the turn has ended."""
    terminal.type("mock:plain\r")
    if name == "ts-example":  # asks to change a file after every prompt
        terminal.sees("asks to change a file", "config.json", "Enter answer")
        terminal.type("r")
    terminal.sees(ANSWERS.get(name, "short answer"), "idle")


def quit_app(terminal: Terminal) -> None:
    assert terminal.quit() == 0
    assert b"Traceback" not in terminal.raw
    assert terminal.left_behind() == []


@pytest.mark.parametrize("name", AGENTS)
def test_the_agent_answers(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        send_prompt(terminal, name)
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_an_edit_is_shown_with_its_line_and_made_when_allowed(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type(f"mock:edit {project}/notes.txt two 2\r")
        terminal.sees("asks to change a file", "one two three", "one 2 three", "Enter answer")
        terminal.type("a")
        terminal.sees("+1", "I replaced", "idle")
        assert (project / "notes.txt").read_text() == "one 2 three\n"
        assert "acts without asking" not in terminal.raw.decode(errors="replace")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_command_runs_when_allowed_and_its_output_is_shown(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:shell python3 -c 'print(6 * 7, 8 * 9)'\r")
        terminal.sees("asks to run a command", "Enter answer")
        terminal.type("a")
        terminal.sees("42 72", "The command ran.", "idle")
        quit_app(terminal)


@pytest.mark.parametrize("name", ["claude-code", "kimi-code"])
def test_a_question_is_a_form_and_its_answer_reaches_the_agent(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:ask\r")
        terminal.sees("Which colour?", "○ Blue", "Ctrl+N decline")
        terminal.type("\x1b[B ")
        terminal.sees("● Blue")
        terminal.type("\x13")
        terminal.sees("Send this to", "send")
        terminal.type("\r")
        terminal.sees("asks: Which colour?", "answered", "idle")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_finished_thought_is_folded(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:think\r")
        terminal.sees("thought for", "After thinking", "idle")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_escape_stops_the_turn(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:long 4000\r")
        terminal.sees("streamed answer")
        terminal.type("\x1b")
        terminal.sees("stopped", "idle")
        quit_app(terminal)


def test_claude_code_compacts_its_context_and_its_options_are_changed(project: Path) -> None:
    with open_terminal("claude-code", project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:plain\r")
        terminal.sees("short answer", "idle")
        terminal.type("/compact ")
        terminal.type("\r")
        terminal.sees("▸ compacted the context", "idle")
        terminal.type("\x1bc")
        terminal.sees("Context", "1,200 input · 40 output", "Cost")
        terminal.type("\x1b")
        terminal.sees("compacted the context")
        terminal.type("\x0f")
        terminal.sees("Agent options", "Model settings", "Fast mode")
        terminal.type("\x1b[C")
        terminal.sees("Accept edits")
        terminal.type("\x1b")
        quit_app(terminal)
