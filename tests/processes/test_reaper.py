"""Ending registered process groups and marked processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.fake_agents.faulty import DAEMON
from tests.support.leftovers import MARK, parent, processes_with
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.processes.reaper import Reaper


@pytest.fixture
def mark() -> str:
    return uuid.uuid4().hex


def own_watchers() -> list[int]:
    """Return the pids of the watchers that this process started."""
    return [pid for pid in processes_with("watcher.py") if parent(pid) == os.getpid()]


def start_process(*command: str, reaper: Reaper, mark: str) -> subprocess.Popen[bytes]:
    """Start a process in its own session; return once it has printed a line."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, MARK: mark, **reaper.environment},
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    return process


def test_close_ends_a_registered_group(reaper: Reaper, mark: str) -> None:
    process = start_process("sh", "-c", "sleep 3600 & echo; wait", reaper=reaper, mark=mark)
    reaper.register(process.pid)
    reaper.close()
    assert process.wait() == -signal.SIGTERM  # not its command's exit code: the signal goes to the group
    assert processes_with(mark) == []


def test_a_process_that_ignores_sigterm_is_killed(reaper: Reaper, mark: str) -> None:
    process = start_process("sh", "-c", "trap '' TERM; echo; exec sleep 3600", reaper=reaper, mark=mark)
    reaper.register(process.pid)
    reaper.close()
    assert process.wait() == -signal.SIGKILL
    assert processes_with(mark) == []


def test_an_unregistered_group_is_not_ended(reaper: Reaper, mark: str) -> None:
    process = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    reaper.register(process.pid)
    reaper.unregister(process.pid)
    reaper.close()
    assert process.poll() is None
    process.kill()
    process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
def test_close_ends_a_daemon_that_left_its_session(reaper: Reaper, mark: str) -> None:
    process = start_process(
        sys.executable, "-c", DAEMON + "print(flush=True); signal.pause()", reaper=reaper, mark=mark
    )
    process.wait()
    assert processes_with(mark)
    reaper.register(process.pid)
    reaper.close()
    assert processes_with(mark) == []


def test_closing_an_unused_reaper_is_allowed(reaper: Reaper) -> None:
    reaper.unregister(1)
    reaper.close()
    with pytest.raises(RuntimeError, match="closed"):
        reaper.register(1)


def test_registering_works_after_the_watcher_was_killed(reaper: Reaper, mark: str) -> None:
    process = start_process("sh", "-c", "sleep 3600 & echo; wait", reaper=reaper, mark=mark)
    reaper.register(process.pid)
    wait_until(own_watchers)  # the command line is visible only after exec
    os.kill(own_watchers()[0], signal.SIGKILL)
    for _ in range(100):  # until the broken pipe is noticed
        reaper.register(process.pid)
    reaper.close()
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_temporary_folder_is_deleted_when_its_process_is_killed(tmp_path: Path) -> None:
    code = "from acp_tui.processes.reaper import Reaper; import signal\n"
    code += "reaper = Reaper(); folder = reaper.create_folder(); other = reaper.create_folder()\n"
    code += "(folder / 'file').touch(); reaper.delete_folder(other); print(flush=True); signal.pause()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert [entry.name for entry in tmp_path.glob("*/*")] == ["file"]
    process.kill()
    process.communicate()
    wait_until(lambda: list(tmp_path.iterdir()) == [])
