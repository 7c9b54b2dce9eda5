"""Runs the installed command as a real process, with scripted agents."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
import tempfile
import threading
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.leftovers import MARK, processes_with
from tests.support.preloaded import PreloadedProgram

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.support.preloaded import Streams

REPOSITORY = Path(__file__).parents[2]
PROGRAM = str(Path(sys.executable).with_name("acp-tui"))


@dataclass
class Run:
    """The result of a run."""

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
    """Return the command line of an agent in `tests/fake_agents`."""
    return shlex.join([sys.executable, "-m", f"tests.fake_agents.{module}", *args])


def script(**offers: Any) -> str:
    """Return the command line of `tests.fake_agents.script`, which executes the steps in a prompt."""
    return agent("script", json.dumps(offers)) if offers else agent("script")


def steps(*given: list[Any]) -> str:
    """Return a prompt for that agent."""
    return json.dumps(given)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a run, in which the scripted agents can be found from any folder."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "ACP_TUI_DEMO_SPEED": "instant", **more}


def run(*args: str, cwd: Path | None = None, stdin: str | bytes = b"", **env: str) -> Run:
    """Run the command to its end, and check that it leaves no processes."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:  # files, because a pipe breaks if it is not read
        stdin_file, out, err = (Path(folder, name) for name in ("stdin", "stdout", "stderr"))
        stdin_file.write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        out.touch()
        err.touch()
        code = _call(args, cwd, environment(**{MARK: mark, **env}), (str(stdin_file), str(out), str(err)))
        assert processes_with(mark) == []
        return Run(code, out.read_bytes().decode(), err.read_bytes().decode())


def _call(args: Sequence[str], cwd: Path | None, env: dict[str, str], streams: Streams) -> int:
    # The interpreter reads the variable when it starts.
    if args and args[0] != "run" and "PYTHONIOENCODING" not in env:
        return PreloadedProgram([*args], cwd, env, streams).wait()
    with open(streams[0], "rb") as stdin_file, open(streams[1], "ab") as out, open(streams[2], "ab") as err:
        return subprocess.call([PROGRAM, *args], cwd=cwd, env=env, stdin=stdin_file, stdout=out, stderr=err)


def execute(prompt: str, *args: str, command: str | None = None, cwd: Path, **env: str) -> Run:
    """Run `acp-tui exec` with a scripted agent."""
    return run("exec", "--command", command or script(), prompt, *args, cwd=cwd, **env)


def execute_json(
    prompt: str, *args: str, command: str | None = None, cwd: Path, **env: str
) -> dict[str, Any]:
    """Run `acp-tui exec --output json` and return the result."""
    return execute(prompt, *args, "--output", "json", command=command, cwd=cwd, **env).result


def answers(result: dict[str, Any]) -> list[Any]:
    """Return the answers that the scripted agent received, which it sends as JSON in its messages."""
    decoder = json.JSONDecoder()
    text, found = result["text"], []
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


@contextmanager
def running(
    *args: str, cwd: Path, stdin: int = subprocess.DEVNULL, **env: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a run. Yield the process, and the mark by which its descendants are found."""
    mark = uuid.uuid4().hex
    with subprocess.Popen(
        [PROGRAM, *args],
        cwd=cwd,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**{MARK: mark, **env}),
    ) as process:
        try:
            yield process, mark
        finally:
            if process.poll() is None:
                process.kill()


def on_a_terminal(*args: str, cwd: Path, stderr: bool = False, **env: str) -> tuple[int, bytes]:
    """Run the command with its stdout, and perhaps its stderr, on a terminal.

    Return the exit code and the output.
    """
    master, slave = pty.openpty()
    terminal, output = os.ttyname(slave), bytearray()
    reader = threading.Thread(target=_read_all, args=(master, output))
    reader.start()
    code = _call(args, cwd, environment(**env), (os.devnull, terminal, terminal if stderr else os.devnull))
    os.close(slave)
    reader.join()
    os.close(master)
    return code, bytes(output)


def _read_all(master: int, output: bytearray) -> None:
    with suppress(OSError):  # end of file on Linux
        while block := os.read(master, 65536):
            output += block
