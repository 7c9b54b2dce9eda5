"""Real agents: restored modes, resumed sessions, edits and commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.store.wire_log import read_log
from tests.real.conftest import launcher
from tests.real.test_on_screen import open_terminal, quit_app, send_prompt
from tests.real.test_real_agents import WITH_TOOLS, execute
from tests.support.cli import run
from tests.support.terminal import Terminal

F5 = "\x1b[15~"
WITHOUT_SESSIONS = ("ts-example", "py-echo", "py-example")


def with_sessions(name: str, tmp_path: Path) -> str:
    """Return the command line of an agent that keeps its sessions between runs."""
    return f"{launcher(name)} --home {tmp_path / 'agent-home'}"


# --------------------------------------------------------------------------- sessions


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_restart_restores_the_mode(name: str, project: Path, tmp_path: Path, home: Path) -> None:
    with Terminal("--command", with_sessions(name, tmp_path), "--mode", "plan", cwd=project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:plain\r")
        terminal.sees("short answer", "idle")
        terminal.type(F5)
        terminal.sees("Agent restarted", "idle")
        terminal.type("mock:think\r")
        terminal.sees("After thinking", "idle")
        assert ", no longer" not in terminal.raw.decode(errors="replace")
        quit_app(terminal)
    (log,) = (home / "data" / "sessions").glob("*/wire.jsonl")
    assert fold(read_log(log)).mode == "plan"


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_resumed_session_has_its_mode(name: str, project: Path, tmp_path: Path) -> None:
    words = ("exec", "--command", with_sessions(name, tmp_path), "mock:plain", "--output", "json")
    first = run(*words, "--mode", "plan", cwd=project).result
    second = run(*words, "--resume", first["sessionId"], cwd=project)
    assert second.code == 0, second.err
    assert ", no longer" not in second.err
    assert fold(read_log(Path(second.result["log"]))).mode == "plan"
    assert second.result["sessionId"] == first["sessionId"]


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_resumed_conversation_is_shown_once(name: str, project: Path, tmp_path: Path) -> None:
    command = with_sessions(name, tmp_path)
    first = run("exec", "--command", command, "mock:plain", "--output", "json", cwd=project).result
    with Terminal("--command", command, "--resume", first["sessionId"], cwd=project) as terminal:
        terminal.sees("mock:plain", "short answer", "idle")
        terminal.type("mock:think\r")
        terminal.sees("After thinking", "idle")
        quit_app(terminal)
    transcript = run("replay", "--text", str(Path(first["log"]).parent)).out
    assert transcript.count("answer from the mock model") == 1


@pytest.mark.parametrize("name", WITHOUT_SESSIONS)
def test_restarting_an_agent_without_sessions_starts_a_new_one(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type(F5)
        terminal.sees("Agent restarted", "idle")
        assert "neither resume nor load" not in terminal.screen  # nothing is lost yet
        send_prompt(terminal, name)
        terminal.type(F5)
        terminal.sees("neither resume nor load", "the agent cannot see the conversation above", "idle")
        quit_app(terminal)


# --------------------------------------------------------------------------- tools


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_failing_command_is_shown_as_failed(name: str, project: Path) -> None:
    result = execute(name, "mock:shell sh -c 'exit 3'", "--policy", "yolo", cwd=project)
    assert [(call["kind"], call["status"]) for call in result["toolCalls"]] == [("execute", "failed")]
    assert "exit code 3" in run("replay", "--text", str(Path(result["log"]).parent)).out


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_rejected_edit_is_not_made(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        terminal.type(f"mock:edit {project}/notes.txt two 2\r")
        terminal.sees("asks to change a file", "Enter answer")
        terminal.type("r")
        terminal.sees("rejected", "idle")
        quit_app(terminal)
    assert (project / "notes.txt").read_text() == "one two three\n"


def test_the_example_agent_continues_after_an_allowed_edit(project: Path) -> None:
    with open_terminal("ts-example", project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:plain\r")
        terminal.sees("asks to change a file", "config.json", "Enter answer")
        terminal.type("a")
        terminal.sees("successfully updated the configuration", "idle")
        quit_app(terminal)
