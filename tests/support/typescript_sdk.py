"""The official TypeScript SDK as a peer: it and the version of Node that it needs are installed from npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.waiting import TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".cache" / "typescript-sdk"
PACKAGES = ("node@22", "@agentclientprotocol/sdk@2.4.0", "zod@4", "ws@8")
NPM = shutil.which("npm")
"""The path of npm; None where it is missing."""


def run_script(script: Path, *args: str, env: dict[str, str]) -> str:
    """Run a module of JavaScript, which can import the SDK, and return what it prints."""
    done = subprocess.run(_command(script, *args), env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class TypeScriptServer:
    """A running script that serves an agent and prints what it sees as lines of JSON, first its address."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.lines: list[dict[str, Any]] = []
        """What the server has printed, without the address."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, self.end()
        self.url: str = json.loads(first)["url"]
        self._reader.start()

    def requests(self, method: str) -> list[dict[str, Any]]:
        """Return the lines about requests with a method of HTTP, or of JSON-RPC. Wait for the first."""
        return self._matching(
            lambda line: (
                "request" in line and method in (line["request"], (line.get("body") or {}).get("method"))
            )
        )

    def messages(self, method: str) -> list[dict[str, Any]]:
        """Return the params of the messages with a method that agents have received. Wait for the first."""
        found = self._matching(lambda line: line.get("message", {}).get("method") == method)
        return [line["message"]["params"] for line in found]

    def answers(self, method: str) -> list[dict[str, Any]]:
        """Return the answers that agents have received to requests with a method. Wait for the first."""
        return self._matching(lambda line: line.get("answer") == method)

    def _matching(self, condition: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        wait_until(lambda: any(map(condition, self.lines)), describe=lambda: json.dumps(self.lines, indent=1))
        return [line for line in self.lines if condition(line)]

    def end(self) -> str:
        """End the server and return what it has written to stderr: what the SDK warns about."""
        self._process.terminate()
        self._process.wait(TIMEOUT_SECONDS)
        assert self._process.stderr is not None
        return self._process.stderr.read().decode()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(json.loads(line))


@contextmanager
def typescript_server(script: Path, *args: str, env: dict[str, str]) -> Iterator[TypeScriptServer]:
    """Run a script that serves an agent, and check that the SDK has not warned about anything."""
    command = _command(script, *args)
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            server = TypeScriptServer(process)
            yield server
            assert server.end() == ""
        finally:
            process.kill()


def _command(script: Path, *args: str) -> list[str]:
    """Return the command that runs a module of JavaScript, which can import the SDK."""
    _install()
    copy = FOLDER / script.name  # modules are looked up from the folder of the script
    copy.write_bytes(script.read_bytes())
    return [str(FOLDER / "node_modules" / "node" / "bin" / "node"), str(copy), *args]


def _install() -> None:
    """Install the packages unless they are there."""
    stamp = FOLDER / "installed"
    if stamp.exists() and stamp.read_text() == " ".join(PACKAGES):
        return
    assert NPM is not None
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}\n')
    options = ("--prefix", str(FOLDER), "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run([NPM, "install", *options, *PACKAGES], check=True)
    stamp.write_text(" ".join(PACKAGES))
