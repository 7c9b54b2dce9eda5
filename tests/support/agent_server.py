"""Runs `acp-tui serve` as a real process, and connects to it."""

from __future__ import annotations

import re
import shlex
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.cli import running
from tests.support.leftovers import processes_with
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path


class Served:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        assert process.stdout is not None
        self.process = process
        self.mark = mark
        self.out = ""
        self._err = bytearray()
        threading.Thread(target=self._read_stderr, daemon=True).start()
        while "Ctrl+C" not in self.out:
            line = process.stdout.readline()
            assert line, self.err
            self.out += line.decode()
        self.url = re.findall(r"wss?://\S+", self.out)[0]
        self.token = "".join(re.findall(r"Token: (\S+)", self.out))

    def connect(self, url: str | None = None, token: str | None = None, **options: Any) -> ClientConnection:
        """Connect with the right token, unless another one is given."""
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        options = {"additional_headers": headers, "proxy": None, "max_size": None, **options}
        connection: ClientConnection = connect(url or self.url, **options)
        return connection

    def refusal(self, url: str | None = None, token: str | None = None, **options: Any) -> int:
        """Return the HTTP status with which a connection is refused."""
        with pytest.raises(InvalidStatus) as raised, self.connect(url, token, **options):
            pass
        return raised.value.response.status_code

    @property
    def err(self) -> str:
        return bytes(self._err).decode()

    def wait_for(self, text: str) -> None:
        """Wait until the server has written this to stderr."""
        wait_until(lambda: text in self.err, describe=lambda: self.err)

    def wait_for_end_of_agents(self) -> None:
        wait_until(lambda: processes_with(self.mark) == [self.process.pid])

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while block := self.process.stderr.read1(1 << 16):  # type: ignore[attr-defined]
            self._err += block


@contextmanager
def served(*args: str, cwd: Path, **env: Any) -> Iterator[Served]:
    """Run a server, which is stopped at the end, and check that it leaves no processes."""
    with running("serve", *args, cwd=cwd, **env) as (process, mark):
        yield Served(process, mark)
        process.terminate()
        assert process.wait(TIMEOUT_SECONDS) == 0
    wait_until(lambda: processes_with(mark) == [])


def python(code: str) -> tuple[str, str]:
    """Return the options for an agent with this program."""
    return "--command", shlex.join([sys.executable, "-c", code])
