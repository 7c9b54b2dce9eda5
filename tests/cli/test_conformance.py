"""`acp-tui doctor --suite`: the report, its formats, the evidence, and how a run ends."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.store.wire_log import read_log
from tests.fake_agents import conformant
from tests.support.cli import agent, run, running
from tests.support.leftovers import processes_with
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.cli import Run

PROMPTS = str(Path(conformant.__file__).with_name("conformant_prompts.toml"))


def suite(folder: Path, fault: str, *args: str) -> Run:
    command = agent("conformant", fault)
    return run("doctor", "--suite", "--command", command, "--prompts", PROMPTS, *args, cwd=folder)


def report(done: Run) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(done.out)
    return parsed


def test_the_demo_agent_passes(home: Path) -> None:
    home.mkdir()
    done = run("doctor", "demo", "--suite", "--json", cwd=home)
    found = report(done)
    assert [check for check in found["checks"] if check["status"] == "fail"] == []
    assert done.code == 0
    assert found["counts"]["pass"] >= 140


def test_a_failure_is_explained_and_ends_with_1(tmp_path: Path) -> None:
    done = suite(tmp_path, "future-version", "--check", "handshake")
    assert done.code == 1
    assert "✗ fail         future-version\n" in done.out
    assert "asked for version 65535, which does not exist, it agreed" in done.out
    assert "“Otherwise, the Agent MUST respond with the latest version it\n" in done.out
    assert "6 pass, 1 fail, 0 not offered, 0 not seen" in done.out


def test_checks_that_pass_end_with_0(tmp_path: Path) -> None:
    done = suite(tmp_path, "", "--check", "session-new", "--check", "stop-reason", "--json")
    assert done.code == 0
    assert [check["name"] for check in report(done)["checks"]] == ["session-new", "stop-reason"]


def test_what_the_agent_does_not_advertise_is_not_offered(tmp_path: Path) -> None:
    command = agent("script")
    done = run("doctor", "--suite", "--command", command, "--check", "load", "--json", cwd=tmp_path)
    [check] = report(done)["checks"]
    assert (check["status"], check["detail"]) == ("not offered", "the agent does not advertise loadSession")


def test_the_evidence_is_a_log_of_the_messages(tmp_path: Path) -> None:
    suite(tmp_path, "stop-reason", "--check", "stop-reason", "--evidence", "seen")
    records = list(read_log(tmp_path / "seen" / "stop-reason.jsonl"))
    methods = [record.frame.get("method") for record in records if record.direction == "sent"]
    assert methods == ["initialize", "session/new", "session/prompt"]
    assert records[-1].frame["result"] == {}


def test_the_evidence_of_a_violation_is_the_message_that_shows_it(tmp_path: Path) -> None:
    suite(tmp_path, "schema-session-new", "--check", "schema-session-new", "--evidence", "seen")
    records = list(read_log(tmp_path / "seen" / "schema-session-new.jsonl"))
    results = [record.frame["result"] for record in records if "result" in record.frame]
    assert [result.get("surprise") for result in results] == [None, 1]


def test_markdown_has_the_failures_and_a_table_and_escapes_what_the_agent_said(tmp_path: Path) -> None:
    done = suite(tmp_path, "current-mode", "--check", "current-mode", "--check", "set-mode", "--markdown")
    assert done.out.startswith("## ACP conformance: conformant 1\n")
    assert "- **current-mode**: the current mode 'nope' is not among 'ask', 'code'" in done.out
    assert "| modes and options | set-mode | pass |  |" in done.out
    hostile = run(
        *("doctor", "--suite", "--markdown", "--command", agent("hostile"), "--check", "handshake"),
        *("--timeout", "5"),
        cwd=tmp_path,
    )
    assert "\x1b" not in hostile.out


@pytest.mark.parametrize("check", ["initialize", "session-new", "text"])
def test_an_agent_that_dies_at_once_fails_the_handshake_only(check: str, tmp_path: Path) -> None:
    command = agent("faulty", "dies_before_initialize")
    done = run("doctor", "--suite", "--command", command, "--check", check, "--json", cwd=tmp_path)
    [found] = report(done)["checks"]
    assert found["status"] == ("fail" if check == "initialize" else "not seen")


def test_an_agent_that_never_answers_does_not_stop_the_suite(tmp_path: Path) -> None:
    command = agent("faulty", "never_answers_prompts")
    done = run(
        *("doctor", "--suite", "--command", command, "--check", "stop-reason", "--timeout", "1", "--json"),
        cwd=tmp_path,
    )
    [found] = report(done)["checks"]
    assert (found["status"], done.code) == ("fail", 1)
    assert "nor after session/cancel" in found["detail"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("never_answers", "the agent has sent no message since its first start; see the handshake"),
        ("never_answers_prompts", "the agent answers no prompts; see stop-reason"),
    ],
)
def test_the_suite_does_not_wait_for_the_same_silence_in_every_check(
    fault: str, reason: str, tmp_path: Path
) -> None:
    command = agent("faulty", fault)
    done = run("doctor", "--suite", "--command", command, "--timeout", "1", "--json", cwd=tmp_path)
    reasons = [check["detail"] for check in report(done)["checks"] if check["status"] == "not seen"]
    assert reasons.count(reason) > 30
    assert done.code == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_suite_and_the_agent(number: int, tmp_path: Path) -> None:
    command = agent("conformant")
    arguments = ("doctor", "--suite", "--command", command, "--prompts", PROMPTS, "--evidence", "seen")
    with running(*arguments, cwd=tmp_path) as (process, mark):
        wait_until(lambda: len(processes_with(mark)) > 1)
        process.send_signal(number)
        assert process.wait(30) == 128 + number
        wait_until(lambda: processes_with(mark) == [])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--suite", "--check", "nonsense"), "No check and no group is called 'nonsense'"),
        (("--suite", "--policy", "yolo"), "--policy cannot be used with --suite"),
        (("--suite", "--protocol", "2"), "--suite checks version 1 of the protocol"),
        (("--suite", "--prompts", "missing.toml"), "missing.toml cannot be read"),
        (("--suite", "--prompts", "broken.toml"), "broken.toml is not valid TOML"),
        (("--markdown",), "--markdown is for the conformance suite"),
        (("--suite", "hello"), "--suite has prompts of its own"),
    ],
)
def test_wrong_arguments_are_explained_before_the_agent_starts(
    args: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.toml").write_text("reply = \n")
    done = run("doctor", "--command", "does-not-exist", *args, cwd=tmp_path)
    assert done.code in (1, 2)
    assert words in done.err
