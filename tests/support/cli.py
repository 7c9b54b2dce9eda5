"""The installed command as a real process, with scripted agents."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
import tempfile
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.leftovers import MARK, processes_with

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
PROGRAM = str(Path(sys.executable).with_name("acp-tui"))


@dataclass
class Run:
    """A run that has ended."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """The object of `--output json`."""
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of `--output ndjson`."""
        return [json.loads(line) for line in self.out.splitlines()]


def agent(module: str, *args: str) -> str:
    """The command line of an agent of `tests/fake_agents`."""
    return shlex.join([sys.executable, "-m", f"tests.fake_agents.{module}", *args])


def script(**offers: Any) -> str:
    """The command line of the agent that does what the prompt spells out."""
    return agent("script", json.dumps(offers)) if offers else agent("script")


def steps(*given: list[Any]) -> str:
    """A prompt for that agent."""
    return json.dumps(given)


def environment(**more: str) -> dict[str, str]:
    """The environment of a run; the scripted agents are found from anywhere."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "ACP_TUI_DEMO_SPEED": "instant", **more}


def run(*args: str, cwd: Path | None = None, stdin: str | bytes | None = None, **env: str) -> Run:
    """Run the command to its end; it leaves no process behind."""
    mark = uuid.uuid4().hex
    given = stdin.encode() if isinstance(stdin, str) else stdin
    with tempfile.TemporaryFile() as file:  # not a pipe: what nobody reads is no error
        file.write(given or b"")
        file.seek(0)
        done = subprocess.run(
            [PROGRAM, *args],
            cwd=cwd,
            capture_output=True,
            stdin=file,
            env=environment(**{MARK: mark, **env}),
            check=False,
        )
    assert processes_with(mark) == []
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def execute(prompt: str, *args: str, command: str | None = None, cwd: Path, **env: str) -> Run:
    """`acp-tui exec` with a scripted agent."""
    return run("exec", "--command", command or script(), prompt, *args, cwd=cwd, **env)


def execute_json(
    prompt: str, *args: str, command: str | None = None, cwd: Path, **env: str
) -> dict[str, Any]:
    """… and its result as an object."""
    return execute(prompt, *args, "--output", "json", command=command, cwd=cwd, **env).result


def answers(result: dict[str, Any]) -> list[Any]:
    """What the scripted agent said about the answers it got, one per message chunk."""
    decoder = json.JSONDecoder()
    text, found = result["text"], []
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


@contextmanager
def running(*args: str, cwd: Path, **env: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A run to be interrupted, and the mark of all its processes."""
    mark = uuid.uuid4().hex
    with subprocess.Popen(
        [PROGRAM, *args],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**{MARK: mark, **env}),
    ) as process:
        try:
            yield process, mark
        finally:
            if process.poll() is None:
                process.kill()


def on_a_terminal(*args: str, cwd: Path) -> tuple[int, bytes]:
    """Run the command with its standard output on a terminal; all that the terminal got."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *args],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        os.close(slave)
        got = b""
        while block := _read(master):
            got += block
    os.close(master)
    return process.returncode, got


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # on Linux, the end
        return b""
