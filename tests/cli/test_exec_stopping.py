"""Stopping a run by Ctrl+C, signals and SIGKILL: no process survives it."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import sys
import uuid
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import pytest

from tests.fake_agents.faulty import DAEMON
from tests.support.cli import running, script, steps
from tests.support.leftovers import processes_with
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    import subprocess

DEAF = steps(["say", "on it\n"], ["ignore_client"])
STUBBORN = steps(["say", "on it\n"], ["wait_for_cancel"], ["say", "never\n"], ["ignore_client"])


def wait_until_gone(mark: str) -> None:
    """Wait until no process of the run is left."""
    wait_until(lambda: not processes_with(mark))


def wait_for_line(process: subprocess.Popen[bytes], line: bytes) -> None:
    """Wait until the agent has printed the line."""
    assert process.stdout is not None
    assert line in iter(process.stdout.readline, b"")


def wait_for_turn(process: subprocess.Popen[bytes]) -> None:
    """Wait until the turn has started."""
    wait_for_line(process, b"on it\n")


def test_ctrl_c_asks_the_agent_to_stop_and_keeps_the_output(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    prompt = steps(
        ["say", "so far"],
        ["write_file", str(tmp_path / "new"), ""],
        ["write_file", str(ready), "yes"],
        ["wait_for_cancel"],
    )
    with running("exec", "--command", script(), prompt, "--output", "json", cwd=tmp_path) as (process, mark):
        assert ready.read_text() == "yes"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert process.returncode == 130
        assert err.decode().splitlines() == [
            "acp-tui: Asked the agent to stop; it has 5 s.",
            "· stopped: cancelled",
        ]
        result = json.loads(out)
        assert (result["text"], result["stopReason"]) == ("so far", "cancelled")
        assert [file["change"] for file in result["changedFiles"]] == ["added"]
        wait_until_gone(mark)


def test_a_second_ctrl_c_quits_at_once(tmp_path: Path) -> None:
    with running("exec", "--command", script(), STUBBORN, cwd=tmp_path) as (process, mark):
        wait_for_turn(process)
        process.send_signal(signal.SIGINT)
        wait_for_line(process, b"never\n")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in err.decode()
        wait_until_gone(mark)


def test_an_agent_that_ignores_one_sigint_is_ended_if_nobody_can_press_ctrl_c_again(tmp_path: Path) -> None:
    with running("exec", "--command", script(), DEAF, cwd=tmp_path) as (process, mark):
        wait_for_turn(process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
        assert process.returncode == 130
        assert err.decode().splitlines() == [
            "acp-tui: Asked the agent to stop; it has 5 s.",
            "acp-tui: The agent did not stop within 5 s.",
        ]
        wait_until_gone(mark)


def test_ctrl_c_on_a_terminal_says_how_to_end_an_agent_that_ignores_it(tmp_path: Path) -> None:
    master, slave = os.openpty()
    with running("exec", "--command", script(), STUBBORN, cwd=tmp_path, stdin=slave) as (process, mark):
        wait_for_turn(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        assert line == "acp-tui: Asked the agent to stop; Ctrl+C again ends it.\n"
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 130
        wait_until_gone(mark)
    os.close(master)
    os.close(slave)


def test_a_timeout_says_that_the_agent_was_asked_to_stop(tmp_path: Path) -> None:
    with running("exec", "--command", script(), DEAF, "--timeout", "5", cwd=tmp_path) as (process, mark):
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
        assert process.returncode == 1
        assert err.decode().splitlines() == [
            "acp-tui: Asked the agent to stop after 5 s (--timeout).",
            "acp-tui: Timed out after 5 s.",
        ]
        wait_until_gone(mark)


def test_ctrl_c_before_the_turn_ends_the_run(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    os.mkfifo(asked)
    command = shlex.join(["sh", "-c", 'head -n 1 > "$0"; cat', str(asked)])
    with running("exec", "--command", command, "go", cwd=tmp_path) as (process, mark):
        assert "initialize" in asked.read_text()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in err.decode()
        wait_until_gone(mark)


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("ls-files", signal.SIGKILL),
        ("update-index -q", signal.SIGTERM),
        ("update-index -q", signal.SIGINT),
    ],
    ids=["at the start-SIGKILL", "at the end-SIGTERM", "at the end-SIGINT"],
)
def test_a_hanging_git_ends_with_the_run(tmp_path: Path, command: str, number: signal.Signals) -> None:
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "git"
    hang = f'touch "{tmp_path}/hangs"; exec sleep 4323'
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *"{command}"*) {hang};; esac\nexec {which("git")} "$@"\n')
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{os.environ['PATH']}"
    with running("exec", "--command", script(), "hi", "--output", "json", cwd=tmp_path, PATH=path) as (
        process,
        mark,
    ):
        wait_until((tmp_path / "hangs").exists)
        process.send_signal(number)
        process.communicate(timeout=TIMEOUT_SECONDS)
        wait_until_gone(mark)


def test_sighup_ends_the_run_and_its_processes(tmp_path: Path) -> None:
    with running("exec", "--command", script(), DEAF, cwd=tmp_path) as (process, mark):
        wait_for_turn(process)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate()
        assert process.returncode == 128 + signal.SIGHUP
        assert err.decode() == "acp-tui: Stopped.\n"
        wait_until_gone(mark)


@pytest.mark.parametrize(
    ("number", "exit_code", "said"),
    [(signal.SIGTERM, 143, b"acp-tui: Stopped.\n"), (signal.SIGKILL, -signal.SIGKILL, b"")],
    ids=["SIGTERM", "SIGKILL"],
)
def test_no_process_outlives_the_run(
    tmp_path: Path, number: signal.Signals, exit_code: int, said: bytes
) -> None:
    """Covers the agent, its child processes, and a terminal with a daemon."""
    code = shlex.quote(DAEMON + "signal.pause()")
    command = f"{shlex.quote(sys.executable)} -c {code}; sleep 3600 & echo started; wait"
    prompt = steps(
        ["leave_processes"],
        ["ask", "terminal/create", {"command": command}],
        ["wait_for_output"],
        ["say", "\non it\n"],
        ["ignore_client"],
    )
    with running("exec", "--command", script(), prompt, "--policy", "yolo", cwd=tmp_path) as (process, mark):
        wait_for_turn(process)
        assert len(processes_with(mark)) >= 9
        process.send_signal(number)
        _, err = process.communicate()
        assert process.returncode == exit_code
        assert err.endswith(said)
        wait_until_gone(mark)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
@pytest.mark.parametrize("number", [None, signal.SIGKILL], ids=["at its end", "SIGKILL"])
def test_no_daemon_of_a_terminal_outlives_the_run(tmp_path: Path, number: signal.Signals | None) -> None:
    """Covers a daemon with its own process group, session and environment."""
    name = uuid.uuid4().hex
    (tmp_path / name).symlink_to(which("sleep") or "")
    command = f"env -i setsid -f sh -c 'echo started; exec {tmp_path / name} 4323'; exec cat"
    prompt = steps(
        ["ask", "terminal/create", {"command": command}],
        ["wait_for_output"],
        ["ask", "terminal/release", {"terminalId": "$terminal"}],
        ["say", "\non it\n"],
        ["ignore_client"] if number else ["wait_for_cancel"],
    )
    with running("exec", "--command", script(), prompt, "--policy", "yolo", cwd=tmp_path) as (process, mark):
        wait_for_turn(process)
        wait_until(lambda: processes_with(f"{name}\0004323"))
        process.send_signal(number or signal.SIGINT)
        process.communicate()
        wait_until_gone(f"{name}\0004323")
        wait_until_gone(mark)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process waits for")
@pytest.mark.parametrize(
    ("number", "times", "code"),
    [(signal.SIGTERM, 1, 143), (signal.SIGINT, 2, 130)],
    ids=["SIGTERM", "SIGINT twice"],
)
def test_a_run_with_a_blocked_output_can_be_ended(
    tmp_path: Path, number: signal.Signals, times: int, code: int
) -> None:
    prompt = steps(["say", "on it\n"], ["repeat", 5000, "x" * 1000], ["ignore_client"])
    with running("exec", "--command", script(), prompt, cwd=tmp_path) as (process, mark):
        wait_for_turn(process)
        wait_until(lambda: is_blocked_writing(process.pid))
        for _ in range(times):
            process.send_signal(number)  # pending signals of one kind are merged
            wait_until(lambda: process.poll() is not None or not has_pending_signal(process.pid))
        assert process.wait() == code
        wait_until_gone(mark)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process waits for")
def test_a_signal_while_progress_is_printed_does_not_lose_the_result(tmp_path: Path) -> None:
    calls = [
        ["update", {"sessionUpdate": "tool_call", "toolCallId": f"{number}", "title": "x" * 200}]
        for number in range(100)
    ]
    prompt = steps(*calls, ["ignore_client"])
    with running("exec", "--command", script(), "--output", "json", prompt, cwd=tmp_path) as (process, mark):
        assert process.stderr is not None
        fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, 4096)
        wait_until(lambda: is_blocked_writing(process.pid))
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not has_pending_signal(process.pid))
        out, _ = process.communicate()
        assert process.returncode == 143
        assert json.loads(out)["error"] == {"message": "Stopped."}
        wait_until_gone(mark)


def is_blocked_writing(pid: int) -> bool:
    """Return True if the process is blocked in writing to a full pipe."""
    return "pipe" in Path(f"/proc/{pid}/wchan").read_text()


def has_pending_signal(pid: int) -> bool:
    """Return True if a signal of the process is pending."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # the process has exited, or this is not Linux
        return False
    pending = [line.split()[1] for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
    return any(int(mask, 16) for mask in pending)
