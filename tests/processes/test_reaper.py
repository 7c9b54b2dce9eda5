"""Process groups that are registered end with the reaper."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import pytest

from acp_tui.processes import Reaper
from tests.fake_agents.faulty import DAEMON
from tests.support.leftovers import MARK, parent, processes_with

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    one = Reaper()
    yield one
    one.close()


@pytest.fixture
def mark() -> str:
    return uuid.uuid4().hex


def started(*command: str, reaper: Reaper, mark: str) -> subprocess.Popen[bytes]:
    """A process in a session of its own that says when it is ready."""
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


def test_a_registered_group_ends_with_the_reaper(reaper: Reaper, mark: str) -> None:
    process = started("sh", "-c", "sleep 3600 & echo; wait", reaper=reaper, mark=mark)
    reaper.register(process.pid)
    reaper.close()
    assert process.wait() == -signal.SIGTERM  # all at once: the shell does not see its command end
    assert processes_with(mark) == []


def test_who_ignores_the_request_is_forced(reaper: Reaper, mark: str) -> None:
    process = started("sh", "-c", "trap '' TERM; echo; exec sleep 3600", reaper=reaper, mark=mark)
    reaper.register(process.pid)
    reaper.close()
    assert process.wait() == -signal.SIGKILL
    assert processes_with(mark) == []


def test_what_was_unregistered_lives_on(reaper: Reaper, mark: str) -> None:
    process = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    reaper.register(process.pid)
    reaper.unregister(process.pid)
    reaper.close()
    assert process.poll() is None
    process.kill()
    process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us find a process by its environment")
def test_a_daemon_that_left_its_session_is_found_by_its_mark(reaper: Reaper, mark: str) -> None:
    process = started(
        sys.executable, "-c", DAEMON + "print(flush=True); signal.pause()", reaper=reaper, mark=mark
    )
    process.wait()
    assert processes_with(mark)
    reaper.register(process.pid)
    reaper.close()
    assert processes_with(mark) == []


def test_a_reaper_that_never_had_work_starts_nothing(reaper: Reaper) -> None:
    reaper.unregister(1)
    reaper.close()
    with pytest.raises(RuntimeError, match="closed"):
        reaper.register(1)


def test_work_goes_on_when_the_watcher_was_killed(reaper: Reaper, mark: str) -> None:
    process = started("sh", "-c", "sleep 3600 & echo; wait", reaper=reaper, mark=mark)
    reaper.register(process.pid)
    watchers: list[int] = []
    while not watchers:  # a name is there a moment after the process is
        watchers = [pid for pid in processes_with("watcher.py") if parent(pid) == os.getpid()]
    os.kill(watchers[0], signal.SIGKILL)
    for _ in range(100):  # the pipe to it breaks at some point
        reaper.register(process.pid)
    reaper.close()
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
