"""Real agents in version 2 of the protocol, in `exec` and on the screen."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.session.state import (
    AgentMessage,
    Diff,
    Plan,
    Subagent,
    Terminal,
    Thought,
    ToolCall,
    TurnEnd,
    Unrecognised,
    UserMessage,
)
from acp_tui.store.wire_log import read_log
from tests.real.conftest import launcher
from tests.real.test_on_screen import quit_app
from tests.support.cli import run, running
from tests.support.terminal import Terminal as Screen

if TYPE_CHECKING:
    from acp_tui.session.state import Session

AGENTS = ("claude-code", "codex")
VERSION_2 = ("--protocol", "2", "--policy", "yolo")
F4, F5, F7 = "\x1bOS", "\x1b[15~", "\x1b[18~"
ALT_S, CTRL_S = "\x1bs", "\x13"
MORE_OPTIONS = {"codex": ("--set", "collaboration_mode=plan")}
"""Options with which the agents have a tool that asks the user."""


def turn(
    name: str, prompt: str, *args: str, cwd: Path, home: Path | None = None
) -> tuple[dict[str, Any], Session]:
    """Run a turn in version 2. Return its result, and the session read from its log."""
    command = launcher(name) if home is None else f"{launcher(name)} --home {home}"
    done = run("exec", "--command", command, prompt, "--output", "json", *VERSION_2, *args, cwd=cwd)
    session = fold(read_log(Path(done.result["log"])))
    assert session.dialect == "v2"
    assert not any(isinstance(entry, Unrecognised) for entry in session.entries)
    return done.result, session


def open_screen(name: str, project: Path, home: Path, *args: str) -> Screen:
    """Start the screen in version 2. The agent keeps its sessions in a folder beside the project."""
    command = f"{launcher(name)} --home {home}"
    return Screen("--command", command, "--protocol", "2", *args, cwd=project)


def of(session: Session, kind: type[Any]) -> list[Any]:
    """Return the entries of a kind."""
    return [entry for entry in session.entries if isinstance(entry, kind)]


@pytest.mark.parametrize("name", AGENTS)
def test_plain_and_think(name: str, project: Path) -> None:
    result, session = turn(name, "mock:think", cwd=project)
    assert result["stopReason"] == "end_turn"
    assert of(session, Thought)
    assert "After thinking" in "".join(entry.text for entry in of(session, AgentMessage))


@pytest.mark.parametrize("name", AGENTS)
def test_edit(name: str, project: Path) -> None:
    lines = project / "lines.txt"
    lines.write_text("one\ntwo\nthree\n")
    result, session = turn(name, f"mock:edit {lines} two TWO", cwd=project)
    assert lines.read_text() == "one\nTWO\nthree\n"
    assert [file["change"] for file in result["changedFiles"]] == ["modified"]
    diffs = [item for call in of(session, ToolCall) for item in call.content if isinstance(item, Diff)]
    assert "+TWO" in (diffs[-1].patch or "")


@pytest.mark.parametrize("name", AGENTS)
def test_shell(name: str, project: Path) -> None:
    _, session = turn(name, "mock:shell printf 'gr\\303\\266\\303\\237e\\n'; exit 3", cwd=project)
    [terminal] = of(session, Terminal)
    assert "größe" in terminal.output.head
    assert terminal.exit_code == 3 or "Exit code 3" in terminal.output.head
    assert terminal.ended_at is not None


@pytest.mark.parametrize("name", AGENTS)
def test_read(name: str, project: Path) -> None:
    result, _ = turn(name, f"mock:read {project}/notes.txt", cwd=project)
    assert "I read the file" in result["text"]


def test_the_todos_of_claude_code_are_a_plan(project: Path) -> None:
    """Codex and the newer models of Claude Code have no tool for todos."""
    _, session = turn("claude-code-sonnet", "mock:todo", cwd=project)
    [plan] = of(session, Plan)
    assert [item.content for item in plan.items] == ["Look at the file", "Change the file"]


def test_a_subagent_of_claude_code_is_a_session_of_its_own(project: Path) -> None:
    """Codex has no tool for subagents."""
    _, session = turn("claude-code", "mock:sub", cwd=project)
    [subagent] = of(session, Subagent)
    assert subagent.session.entries


@pytest.mark.parametrize("name", AGENTS)
def test_cancel(name: str, project: Path) -> None:
    words = ("exec", "--command", launcher(name), "mock:long 4000", "--output", "ndjson", *VERSION_2)
    with running(*words, cwd=project) as (process, _):
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("speaker") == "agent":
                break
        process.send_signal(signal.SIGINT)
        *_, last = process.stdout
        assert process.wait() == 130
        assert json.loads(last)["stopReason"] == "cancelled"


@pytest.mark.parametrize("name", AGENTS)
def test_resume_and_configure(name: str, project: Path, tmp_path: Path) -> None:
    home = tmp_path / "agent-home"
    first, _ = turn(
        name, "mock:plain", "--mode", "plan" if name == "claude-code" else "read-only", cwd=project, home=home
    )
    second, session = turn(name, "mock:plain", "--resume", first["sessionId"], cwd=project, home=home)
    assert second["sessionId"] == first["sessionId"]
    assert session.mode in ("plan", "read-only")
    assert len([entry for entry in of(session, AgentMessage) if "short" in entry.text]) == 2


@pytest.mark.parametrize("name", AGENTS)
def test_a_restart_and_a_second_turn_on_the_screen(name: str, project: Path, tmp_path: Path) -> None:
    with open_screen(name, project, tmp_path / "agent-home") as screen:
        screen.sees("idle")
        screen.type("mock:plain\r")
        screen.sees("short answer", "idle")
        screen.type(F5)
        screen.sees("Agent restarted", "idle")
        screen.type("mock:think\r")
        screen.sees("After thinking", "idle")
        quit_app(screen)


@pytest.mark.parametrize("name", AGENTS)
def test_a_question_is_a_form_and_its_answer_reaches_the_agent(
    name: str, project: Path, tmp_path: Path
) -> None:
    with open_screen(name, project, tmp_path / "agent-home", *MORE_OPTIONS.get(name, ())) as screen:
        screen.sees("idle")
        screen.type("mock:ask\r")
        screen.sees("Which colour?", "○ Blue", "Ctrl+N decline")
        screen.type("\x1b[B ")
        screen.sees("● Blue")
        screen.type(CTRL_S)
        screen.sees("Send this to", "send")
        screen.type("\r")
        screen.sees("the agent asks:", "answered", "Thank you for the answer", "idle")
        quit_app(screen)


def test_a_message_goes_into_the_running_turn_of_codex(project: Path, tmp_path: Path, home: Path) -> None:
    with open_screen("codex", project, tmp_path / "agent-home") as screen:
        screen.sees("idle")
        screen.type("mock:long 400\r")
        screen.sees("streamed answer", "working")
        screen.type("mock:think")
        screen.sees("Alt+S send now")
        screen.type(ALT_S)
        screen.sees("After thinking", "idle")
        quit_app(screen)
    (log,) = (home / "data" / "sessions").glob("*/wire.jsonl")
    session = fold(read_log(log))
    assert [message.steering for message in of(session, UserMessage)] == [False, True]
    assert [end.stop_reason for end in of(session, TurnEnd)] == ["end_turn"]


def test_a_message_for_now_stops_the_running_turn_of_claude_code(
    project: Path, tmp_path: Path, home: Path
) -> None:
    with open_screen("claude-code", project, tmp_path / "agent-home") as screen:
        screen.sees("idle")
        screen.type("mock:long 4000\r")
        screen.sees("streamed answer", "working")
        screen.type("mock:think")
        screen.sees("Alt+S stop and send")
        screen.type(ALT_S)
        screen.sees("After thinking", "idle")
        quit_app(screen)
    (log,) = (home / "data" / "sessions").glob("*/wire.jsonl")
    ends = of(fold(read_log(log)), TurnEnd)
    assert [end.stop_reason for end in ends] == ["cancelled", "end_turn"]


@pytest.mark.parametrize("name", AGENTS)
def test_a_fork_goes_on_beside_the_original(name: str, project: Path, tmp_path: Path, home: Path) -> None:
    with open_screen(name, project, tmp_path / "agent-home") as screen:
        screen.sees("idle")
        screen.type("mock:plain\r")
        screen.sees("short answer", "idle")
        screen.type(F4)
        screen.sees("F7 fork")
        screen.type(F7)
        screen.sees("continues in a fork", "idle")
        screen.type("mock:think\r")
        screen.sees("After thinking", "idle")
        quit_app(screen)
    folds = [fold(read_log(log)) for log in (home / "data" / "sessions").glob("*/wire.jsonl")]
    assert len({session.session_id for session in folds}) == 2
    assert sorted(len(session.prompts) for session in folds) == [1, 2]
