"""`doctor` and `exec` with real agents."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.real.conftest import launcher
from tests.support.cli import run, running

if TYPE_CHECKING:
    from pathlib import Path

WITH_TOOLS = ("claude-code", "opencode", "kimi-code")
# The violations that `doctor` finds in one plain turn.
AGENTS: dict[str, set[str]] = {
    "claude-code": set(),
    "opencode": set(),
    "kimi-code": set(),
    "ts-example": {"no-agent-info", "tool-left-open"},
    "py-echo": {"no-agent-info"},
    "py-example": set(),
}


def execute(name: str, prompt: str, *args: str, cwd: Path) -> dict[str, Any]:
    done = run("exec", "--command", launcher(name), prompt, "--output", "json", *args, cwd=cwd)
    assert done.code == 0, done.err
    return done.result


@pytest.mark.parametrize("name", AGENTS)
def test_doctor_reports_the_known_violations(name: str, project: Path) -> None:
    done = run("doctor", "--command", launcher(name), "--prompt", "mock:plain", "--json", cwd=project)
    assert done.code == 0, done.out
    report = json.loads(done.out)
    assert report["agent"]["protocolVersion"] == 1
    assert report["turn"]["stopReason"] == "end_turn"
    assert report["turn"]["characters"] > 0
    assert {violation["check"] for violation in report["deviations"]} == AGENTS[name]


@pytest.mark.parametrize("name", AGENTS)
def test_the_agent_answers(name: str, project: Path) -> None:
    result = execute(name, "mock:plain", cwd=project)
    assert result["stopReason"] == "end_turn"
    assert result["text"]


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_the_agent_reads_a_file(name: str, project: Path) -> None:
    result = execute(name, f"mock:read {project}/notes.txt", "--policy", "read-only", cwd=project)
    assert "I read the file" in result["text"]
    assert [(call["kind"], call["status"]) for call in result["toolCalls"]] == [("read", "completed")]
    assert result["changedFiles"] == []


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_the_agent_edits_a_file_when_allowed(name: str, project: Path) -> None:
    result = execute(name, f"mock:edit {project}/notes.txt two 2", "--policy", "accept-edits", cwd=project)
    assert (project / "notes.txt").read_text() == "one 2 three\n"
    assert [(file["path"], file["change"]) for file in result["changedFiles"]] == [
        (str(project / "notes.txt"), "modified")
    ]
    assert {decision["outcome"] for decision in result["permissions"]} == {"allowed"}


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_the_agent_does_not_edit_a_file_when_not_allowed(name: str, project: Path) -> None:
    done = run(
        *("exec", "--command", launcher(name), f"mock:edit {project}/notes.txt two 2", "--output", "json"),
        cwd=project,
    )
    assert done.code in (0, 3)
    assert (project / "notes.txt").read_text() == "one two three\n"
    assert {decision["outcome"] for decision in done.result["permissions"]} == {"rejected"}
    assert done.result["changedFiles"] == []


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_the_agent_runs_a_command(name: str, project: Path) -> None:
    result = execute(name, f"mock:shell touch {project}/made.txt", "--policy", "yolo", cwd=project)
    assert (project / "made.txt").exists()
    assert [(call["kind"], call["status"]) for call in result["toolCalls"]] == [("execute", "completed")]
    assert [file["change"] for file in result["changedFiles"]] == ["added"]


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_ctrl_c_cancels_the_turn(name: str, project: Path) -> None:
    prompt = "mock:long 4000"
    with running("exec", "--command", launcher(name), prompt, "--output", "ndjson", cwd=project) as (
        process,
        _,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("speaker") == "agent":
                break
        process.send_signal(signal.SIGINT)
        *_, last = process.stdout
        assert process.wait() == 130
        assert json.loads(last)["stopReason"] == "cancelled"


@pytest.mark.parametrize("name", ["claude-code", "opencode", "kimi-code"])
def test_a_session_is_resumed(name: str, project: Path, tmp_path: Path) -> None:
    command = f"{launcher(name)} --home {tmp_path / 'agent-home'}"
    words = ("exec", "--command", command)
    first = run(*words, "mock:plain", "--output", "json", cwd=project).result
    second = run(*words, "mock:plain", "--resume", first["sessionId"], "--output", "json", cwd=project)
    assert second.code == 0, second.err
    assert second.result["sessionId"] == first["sessionId"]
    assert second.result["log"] == first["log"]
    assert second.result["text"]
