"""Faulty agents under `exec`: each run ends with one sentence, and leaves no process behind."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fake_agents.faulty import LAST_WORDS
from tests.support.cli import agent, execute, run, steps
from tests.support.mutations import nested
from tests.support.stored_sessions import stderr_text

# The fault, the exit code, and a part of the error.
FAULTS: list[tuple[str, int, str]] = [
    ("dies_before_initialize", 1, "exited with code 3"),
    ("ends_in_the_middle_of_a_line", 1, "exited with code 0"),
    ("leaves_processes_and_dies", 1, "exited with code 5"),
    ("no_session_id", 1, "without a session id"),
    ("noise", 0, ""),
    ("flood", 0, ""),
    ("early_updates", 0, ""),
    ("unknown_session", 0, ""),
    ("answers_twice", 0, ""),
    ("unknown_id", 0, ""),
    ("ignores_sigterm_and_end_of_input", 0, ""),
    ("withdraws_at_once", 0, ""),
    ("notifies", 0, ""),
    ("same_id_twice", 0, ""),
]
WITHOUT_STDERR = {"ends_in_the_middle_of_a_line", "no_session_id"}


@pytest.mark.parametrize(("fault", "code", "sentence"), FAULTS, ids=[fault for fault, *_ in FAULTS])
def test_a_faulty_agent_ends_the_run_with_one_sentence(
    tmp_path: Path, fault: str, code: int, sentence: str
) -> None:
    done = execute("go", command=agent("faulty", fault), cwd=tmp_path)
    assert done.code == code, done.err
    assert "acp_tui" not in done.err  # no traceback
    messages = [line for line in done.err.splitlines() if line.startswith("acp-tui:")]
    assert len(messages) == (code != 0)
    if code:
        assert sentence in messages[0]
        assert fault in WITHOUT_STDERR or LAST_WORDS in messages[0]


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ("http status", "answered session/prompt with an error: 529: it broke. Last line"),
        ("no message", "requires sign-in"),
    ],
)
def test_an_error_of_the_agent_is_reported(tmp_path: Path, shape: str, sentence: str) -> None:
    done = execute(shape, command=agent("faulty", "errors"), cwd=tmp_path)
    assert done.code == 1
    assert sentence in done.err


def test_the_last_lines_of_stderr_follow_the_error(tmp_path: Path) -> None:
    prompt = steps(["stderr", *(f"line {number}" for number in range(30))], ["exit", 4])
    done = execute(prompt, cwd=tmp_path)
    sentence, *context = done.err.splitlines()
    assert sentence.startswith("acp-tui: scripted")
    assert "exited with code 4. Last line on stderr: line 29" in sentence
    assert context == [f"  │ line {number}" for number in range(20, 30)]


def test_output_before_a_crash_is_kept(tmp_path: Path) -> None:
    done = execute("go", "--output", "json", command=agent("faulty", "dies_mid_turn"), cwd=tmp_path)
    assert done.result["text"] == "I am about to"
    assert done.result["stopReason"] is None
    assert "exited with code 7" in done.result["error"]["message"]
    records = [json.loads(line) for line in Path(done.result["log"]).read_text().splitlines()]
    assert records[-1]["frame"]["event"] == "agent_exited"
    assert stderr_text(Path(done.result["log"]).parent) == LAST_WORDS


def test_an_unsupported_protocol_version_is_reported(tmp_path: Path) -> None:
    done = execute("go", command=agent("faulty", "wrong_version", "2"), cwd=tmp_path)
    assert done.code == 1
    assert "acp-tui supports version 1" in done.err


def test_the_draft_dialect_is_supported(tmp_path: Path) -> None:
    done = execute("hello", command=agent("draft", "answers"), cwd=tmp_path)
    assert (done.code, done.out) == (0, "you said hello\n")


def test_an_agent_that_does_not_answer_times_out(tmp_path: Path) -> None:
    done = execute(
        "go", command=agent("faulty", "never_answers"), cwd=tmp_path, ACP_TUI_TIMEOUTS_INITIALIZE="2"
    )
    assert done.code == 1
    assert "did not answer initialize within 2 s" in done.err
    assert "still thinking about it" in done.err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("no-such-program --acp", "no-such-program was not found in PATH"),
        ("./plain", "is not executable"),
        (
            "ftp://localhost:9999/acp",
            "ftp://localhost:9999/acp is a URL, not a command that starts an agent.",
        ),
        ("./lost", "the interpreter in its #! line does not exist"),
    ],
)
def test_a_program_that_cannot_be_started_is_reported(tmp_path: Path, command: str, sentence: str) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "lost").write_text("#!/no/such/interpreter\n")
    (tmp_path / "lost").chmod(0o755)
    done = execute("go", command=command, cwd=tmp_path)
    assert done.code == (2 if "URL" in sentence else 1)
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_a_missing_known_agent_is_reported_with_its_install_command(tmp_path: Path) -> None:
    done = run("exec", "claude-code", "hello", cwd=tmp_path, PATH="/nowhere")
    assert done.code == 1
    assert "install it with `npm install -g" in done.err
    assert done.err.count("\n") == 1


# --------------------------------------------------------------------------- faults of the environment


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_data_directory_only_prevents_recording(tmp_path: Path, home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data").chmod(0o500)
    done = execute("hello", cwd=tmp_path)
    assert (done.code, done.out) == (0, "hello\n")
    assert "cannot be recorded" in done.err


@pytest.mark.parametrize("directories", [["data"], ["state", "cache", "config"]], ids=", ".join)
def test_a_file_in_place_of_a_directory_does_not_end_the_run(
    tmp_path: Path, home: Path, directories: list[str]
) -> None:
    home.mkdir()
    for directory in directories:
        (home / directory).write_text("in the way")
    prompt = steps(["say", "hello"], ["permission", {"kind": "fetch", "title": "Fetch"}])
    done = execute(prompt, "--policy", "ask", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.startswith("hello")
    assert ("cannot be recorded" in done.err) == ("data" in directories)
    assert "Traceback" not in done.err


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_only_pauses_recording(tmp_path: Path, small_disk: Path) -> None:
    prompt = steps(["repeat", 1000, "x" * 1000], ["say", " the end"])
    done = execute(prompt, cwd=tmp_path, ACP_TUI_HOME=str(small_disk))
    assert done.code == 0
    assert done.out.endswith(" the end\n")
    assert done.err.count("Recording paused") == 1
    assert "No space left on device" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("output", ["text", "json", "ndjson"])
def test_malformed_and_deeply_nested_frames_do_not_end_the_run(tmp_path: Path, output: str) -> None:
    prompt: list[list[Any]] = []
    for name, value in (("x", ["completed"]), ("y", nested(340)), ("z", nested(340, lists=True))):
        call = {"sessionUpdate": "tool_call", "toolCallId": name, "rawInput": value, "status": value}
        prompt += [["update", {**call, "title": "T"}], ["update", {"sessionUpdate": value}]]
        prompt += [["permission", {"rawInput": value}]]
    done = execute(steps(*prompt), "--output", output, cwd=tmp_path)
    assert done.code == 0
    assert "Traceback" not in done.err
