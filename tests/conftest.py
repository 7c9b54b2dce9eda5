"""Isolates every test from the user's settings, sessions and environment."""

from __future__ import annotations

import faulthandler
import gc
import itertools
import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acp_tui.processes.reaper import Reaper
    from tests.support.mcp_servers import HttpServers, ServerLog


# `nohup` ignores SIGHUP, and a script's background job SIGINT and SIGQUIT. Child processes inherit that: they
# would survive the end of their terminal, and Ctrl+C.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


settings.register_profile("no time limits", deadline=None)  # an example takes long on a busy machine
settings.load_profile("no time limits")


_directory_numbers = itertools.count()

HANG_SECONDS = 900
"""A test that takes longer hangs. Its process prints what it is doing and ends, so that the suite goes on."""
_hang_report = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep the real stderr, which is redirected while a test runs."""
    config.stash[_hang_report] = os.dup(2)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process of a test that hangs."""
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True, file=item.config.stash[_hang_report])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_xdist_auto_num_workers() -> int:
    """Use more than two workers per core: most tests wait for processes and timers."""
    return 2 * (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among modules and tests: it took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty directory. Pytest's own fixture lists all earlier ones, which are thousands."""
    directory = tmp_path_factory.getbasetemp() / str(next(_directory_numbers))
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory with acp-tui's own files for this test."""
    directory = tmp_path / "acp-tui-home"
    monkeypatch.setenv("ACP_TUI_HOME", str(directory))
    monkeypatch.setenv("SSH_TTY", "/dev/null")  # so that no real clipboard is written
    monkeypatch.setenv("BROWSER", "w3m")  # so that no real browser is opened
    monkeypatch.setenv("SHELL", "/bin/sh")  # `!` commands run through the user's shell
    hooks = [name for name in os.environ if name.startswith("GIT_")]  # set when git runs the tests
    terminal = ("TMUX", "STY", "COLORFGBG", "WT_SESSION", "ConEmuANSI", "TERM_PROGRAM", "VTE_VERSION")
    for name in (*terminal, *hooks):
        monkeypatch.delenv(name, raising=False)
    return directory


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    """Yield a reaper, which ends its processes and deletes its folders after the test."""
    from acp_tui.processes.reaper import Reaper

    reaper = Reaper()
    yield reaper
    reaper.close()


@pytest.fixture
def server_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ServerLog:
    """Return the log to which the stdio MCP servers of this test write what they receive."""
    from tests.support.mcp_servers import ServerLog

    path = tmp_path / "mcp-servers.jsonl"
    monkeypatch.setenv("MCP_SERVER_LOG", str(path))
    return ServerLog(path)


@pytest.fixture(scope="session")
def http_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServers]:
    """Return the MCP servers over HTTP, which the tests of one worker share."""
    from tests.support.mcp_servers import run_http_servers

    with run_http_servers(tmp_path_factory.mktemp("mcp")) as servers:
        yield servers


@pytest.fixture
def http_log(http_servers: HttpServers) -> ServerLog:
    """Return the part of the HTTP servers' log that this test writes."""
    from tests.support.mcp_servers import ServerLog

    return ServerLog(http_servers.log, http_servers.log.stat().st_size if http_servers.log.exists() else 0)
