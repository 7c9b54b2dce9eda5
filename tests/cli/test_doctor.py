"""`acp-tui doctor`: what an agent is, what it offers, and where it departs from the protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.harness import agent, run, script, steps

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.harness import Run


def examine(command: str, *args: str, cwd: Path) -> Run:
    return run("doctor", "--command", command, *args, cwd=cwd)


def report(command: str, *args: str, cwd: Path) -> dict[str, Any]:
    done = examine(command, "--json", *args, cwd=cwd)
    found: dict[str, Any] = json.loads(done.out)
    assert done.code == (1 if found["error"] else 0)
    return found


def checks(found: dict[str, Any]) -> list[str]:
    return [deviation["check"] for deviation in found["deviations"]]


def test_a_well_behaved_agent_has_nothing_against_it(tmp_path: Path) -> None:
    found = report(script(), "--prompt", "hello", cwd=tmp_path)
    assert found["error"] is None
    assert found["agent"]["name"] == "scripted"
    assert found["agent"]["protocolVersion"] == 1
    assert set(found["seconds"]) == {"initialize", "session", "turn"}
    assert (found["turn"]["stopReason"], found["turn"]["characters"]) == ("end_turn", 5)
    assert found["deviations"] == []


def test_the_demo_agent_has_nothing_against_it(home: Path) -> None:
    done = run("doctor", "demo", "--prompt", "hello", "--json")
    found = json.loads(done.out)
    assert found["deviations"] == []
    assert [mode["id"] for mode in found["modes"]["available"]]
    assert {option["type"] for option in found["configOptions"]} == {"select", "boolean"}
    assert "tour" in [command["name"] for command in found["commands"]]


def test_the_report_is_for_people(tmp_path: Path) -> None:
    offers = {
        "capabilities": {"loadSession": True, "promptCapabilities": {"image": True, "audio": False}},
        "auth_methods": [{"id": "login", "name": "Log in"}],
        "session": {"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}},
    }
    prompt = steps(
        ["update", {"sessionUpdate": "usage_update", "used": 5, "size": 10}],
        ["update", {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look", "kind": "read"}],
    )
    done = examine(script(**offers), "--prompt", prompt, cwd=tmp_path)
    assert done.code == 0
    sections = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert sections == ["Started", "Agent", "Session", "Turn", "Departures from the protocol"]
    for words in (
        "loadSession, promptCapabilities.image\n",
        "login: Log in (agent)",
        "[a]",
        "Look (unfinished)",
        "5 of 10 tokens",
        "tool-left-open",
    ):
        assert words in done.out


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ([["update", {"sessionUpdate": "novelty"}]], {"unknown-update", "schema:session/update"}),
        ([["say", "x"], ["ask", "vendor/thing", {}]], {"extension-without-underscore"}),
        (
            [["say", "x"], ["update", {"sessionUpdate": "agent_message_chunk", "content": "bare"}]],
            {"bare-content", "schema:session/update"},
        ),
    ],
)
def test_departures_are_named(tmp_path: Path, prompt: list[Any], expected: set[str]) -> None:
    found = report(script(), "--prompt", json.dumps(prompt), cwd=tmp_path)
    assert expected <= set(checks(found))


def test_noise_on_stdout_is_named(tmp_path: Path) -> None:
    found = report(agent("faulty", "noise"), "--prompt", "go", cwd=tmp_path)
    assert {"stdout-noise", "malformed-envelope", "answer-to-nothing"} <= set(checks(found))


def test_an_agent_that_does_not_leave_is_named(tmp_path: Path) -> None:
    assert "outlives-its-input" in checks(report(agent("faulty", "will_not_end"), cwd=tmp_path))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("dies_before_initialize", "ended with exit code 3"),
        ("demands_authentication", "wants you to sign in first"),
        ("no_session_id", "without a session id"),
    ],
)
def test_an_agent_that_cannot_be_talked_to_is_reported(tmp_path: Path, fault: str, sentence: str) -> None:
    done = examine(agent("faulty", fault), cwd=tmp_path)
    assert done.code == 1
    words = " ".join(done.out.split())
    assert sentence in words
    assert "Traceback (" not in done.err
    if fault == "dies_before_initialize":
        assert "│ starting" in done.out


def test_what_cannot_be_started_is_reported(tmp_path: Path) -> None:
    done = examine("no-such-program", cwd=tmp_path)
    assert done.code == 1
    assert "there is no program" in " ".join(done.out.split())
    assert "Traceback" not in done.err


def test_hostile_words_of_an_agent_are_made_safe(tmp_path: Path) -> None:
    hostile = "evil\x1b[2J\u202e"
    offers = {
        "session": {"modes": {"currentModeId": hostile, "availableModes": [{"id": hostile, "name": hostile}]}}
    }
    done = examine(script(**offers), "--prompt", steps(["update", {"sessionUpdate": hostile}]), cwd=tmp_path)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_the_agent_may_do_nothing_unless_allowed(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=b")
    prompt = steps(["ask", "fs/write_text_file", {"path": str(tmp_path / "new.txt"), "content": "x"}])
    report(script(), "--prompt", prompt, cwd=tmp_path)
    assert not (tmp_path / "new.txt").exists()


def test_an_agent_has_to_be_named(tmp_path: Path) -> None:
    done = run("doctor", cwd=tmp_path)
    assert done.code == 2
    assert "name an agent" in done.err
