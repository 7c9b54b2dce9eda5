"""`acp-tui tap`: a scripted editor that sends odd bytes in odd pieces through the real program."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import uuid
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths
from acp_tui.protocol.json_rpc import decode
from acp_tui.store.stored_sessions import StoredSession, list_sessions
from tests.support.cli import PROGRAM, agent, environment, run
from tests.support.leftovers import MARK, processes_with
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

ECHO = [sys.executable, "-c", "import os\nwhile block := os.read(0, 70000): os.write(1, block)"]
"""An agent that sends back what it gets, as it comes."""
ODD = b'{"jsonrpc":"2.0"}\r\n\xff\xfe\x00\n\n\r\n\xf0\x9f\n[{}]\n{"a":"\xe2\x80\xa8"}\x00\x00\n{"torn'
MEGABYTE = 1_000_000


class Editor:
    """Starts a tap as an editor does, and reads all that comes while it writes."""

    def __init__(self, *args: str, **options: Any) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [PROGRAM, "tap", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**{MARK: self.mark}),
            **options,
        )
        self.out, self.err = bytearray(), bytearray()
        self._threads = [
            threading.Thread(target=self._read, args=(stream, into), daemon=True)
            for stream, into in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for thread in self._threads:
            thread.start()

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def has_sent(self, data: bytes) -> bool:
        """Return True if this is all that the agent has sent so far."""
        return bytes(self.out) == data

    def has_answered(self, number: int) -> bool:
        """Return True if the agent has answered the request with this id."""
        messages = map(decode, bytes(self.out).splitlines())
        return any(isinstance(message, dict) and message.get("id") == number for message in messages)

    def end(self) -> int:
        """Close stdin, and return the exit code once everything has been read."""
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.process.stdin.close()
        code = self.process.wait(TIMEOUT_SECONDS)
        for thread in self._threads:
            thread.join(TIMEOUT_SECONDS)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    @staticmethod
    def _read(stream: Any, into: bytearray) -> None:
        while block := stream.read1(1 << 16):
            into += block


@contextmanager
def editor(*args: str, **options: Any) -> Iterator[Editor]:
    """Start a tap, and check at the end that it leaves no processes."""
    started = Editor(*args, **options)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()
        started.end()
        wait_until(lambda: not processes_with(started.mark))


def python(code: str) -> list[str]:
    """Return the command of an agent with this program."""
    return ["--", sys.executable, "-c", f"import os, signal, sys, time\n{code}"]


def recorded() -> StoredSession:
    """Return the only recorded session."""
    (session,) = list_sessions(paths().data)
    return session


def frames(direction: str) -> list[Any]:
    return [record.frame for record in recorded().records() if record.direction == direction]


# --------------------------------------------------------------------------- bytes


@pytest.mark.parametrize("seed", range(3))
def test_odd_bytes_in_odd_pieces_arrive_unchanged_in_both_directions(seed: int) -> None:
    cuts = random.Random(seed)
    data = (ODD + cuts.randbytes(50_000)) * 3
    edges = [0, *(at for at in accumulate(cuts.choice((1, 2, 7, 4096, 9000)) for _ in range(99)))]
    with editor("--", *ECHO) as tap:
        for start, end in pairwise([*(at for at in edges if at < len(data)), len(data)]):
            tap.write(data[start:end])
        assert tap.end() == 0
        assert bytes(tap.out) == data


def test_a_line_of_5_mb_arrives_unchanged() -> None:
    line = b'{"jsonrpc":"2.0","method":"' + random.Random(1).randbytes(5 * MEGABYTE).hex().encode() + b'"}'
    with editor("--", *ECHO) as tap:
        tap.write(line)
        assert tap.end() == 0
        assert bytes(tap.out) == line


def test_bytes_are_passed_on_before_their_line_ends() -> None:
    with editor("--", *ECHO) as tap:
        for expected in (b"{", b'{"half', b'{"half\xf0'):
            tap.write(expected[len(tap.out) :])
            wait_until(partial(tap.has_sent, expected))


def test_stdout_and_stderr_are_passed_on_side_by_side() -> None:
    code = "for n in range(500): os.write(1, b'\\xff%d\\0' % n); os.write(2, b'\\x1b[%d\\r' % n)\nsys.exit(5)"
    with editor(*python(code)) as tap:
        assert tap.end() == 5
        assert bytes(tap.out) == b"".join(b"\xff%d\0" % n for n in range(500))
        assert bytes(tap.err) == b"".join(b"\x1b[%d\r" % n for n in range(500))


def test_an_agent_gets_the_environment_and_folder_of_the_editor(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "LANG": "C", "HOME": str(tmp_path), "ODD": "a=b\n\udcff", "EMPTY": ""}
    env["ACP_TUI_HOME"] = os.environ["ACP_TUI_HOME"]
    command = ["sh", "-c", "env -0; pwd"]
    direct = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=True)
    tapped = subprocess.run(
        [PROGRAM, "tap", "--", *command], env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert sorted(tapped.stdout.split(b"\0")) == sorted(direct.stdout.split(b"\0"))


# --------------------------------------------------------------------------- ends


@pytest.mark.parametrize("code", [0, 1, 43, 255])
def test_the_exit_code_is_handed_on(code: int) -> None:
    with editor(*python(f"sys.exit({code})")) as tap:
        assert tap.end() == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_that_ends_the_agent_ends_the_tap(number: int) -> None:
    with editor(*python(f"os.kill(os.getpid(), {number})")) as tap:
        assert tap.end() == -number


def test_closing_stdin_ends_the_input_of_the_agent() -> None:
    code = "data = sys.stdin.buffer.read(); os.write(1, b'end of %d' % len(data)); sys.exit(9)"
    with editor(*python(code)) as tap:
        tap.write(b"12345")
        assert tap.end() == 9
        assert bytes(tap.out) == b"end of 5"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_the_agent_gets_the_signals_of_the_editor(name: str) -> None:
    code = (
        f"signal.signal(signal.{name}, lambda *_: (os.write(1, b'got it'), sys.exit(3)))\n"
        "os.write(1, b'ready ')\nwhile True: time.sleep(60)"
    )
    with editor(*python(code)) as tap:
        wait_until(lambda: tap.out)
        tap.process.send_signal(getattr(signal, name))
        assert tap.process.wait(TIMEOUT_SECONDS) == 3
        assert tap.end() == 3
        assert bytes(tap.out) == b"ready got it"


STUBBORN = (
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "if os.fork() == 0: os.setpgid(0, 0)\n"
    "os.write(2, b'ready')\nwhile True: time.sleep(60)"
)
"""An agent with a child; both only end by SIGKILL."""


def test_nothing_survives_when_the_tap_is_killed() -> None:
    with editor(*python(STUBBORN)) as tap:
        wait_until(lambda: len(tap.err) == 10)
        tap.process.kill()
        wait_until(lambda: not processes_with(tap.mark))
    wait_until(lambda: not recorded().in_use())
    assert frames("client")[-1]["reason"] == "The tap was killed, and so the agent was ended"


def test_nothing_survives_when_the_editor_is_gone() -> None:
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [PROGRAM, "tap", *python(STUBBORN)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**{MARK: mark}),
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    assert process.stderr.read(10) == b"readyready"
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    wait_until(lambda: not processes_with(mark))
    assert process.wait(TIMEOUT_SECONDS) == -signal.SIGKILL


def test_an_agent_that_ignores_the_end_of_its_input_goes_on() -> None:
    code = "sys.stdin.read()\nfor n in range(3): time.sleep(1); os.write(1, b'%d' % n)"
    with editor(*python(code)) as tap:
        assert tap.end() == 0
        assert bytes(tap.out) == b"012"


def test_the_editor_sees_that_the_agent_has_closed_its_stdout() -> None:
    with editor(*python("os.close(1)\nsys.stdin.read()")) as tap:
        tap._threads[0].join(TIMEOUT_SECONDS)  # reads until the end of stdout
        assert tap.process.poll() is None
        assert tap.end() == 0


def test_a_command_that_does_not_exist_has_the_exit_code_of_a_shell() -> None:
    done = run("tap", "--", "no-such-agent")
    assert (done.code, done.err) == (127, "acp-tui: no-such-agent was not found.\n")


# --------------------------------------------------------------------------- the log

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def call(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def prompt(number: int, *texts: str) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text} for text in texts]
    return call(number, "session/prompt", sessionId="session-1", prompt=blocks)


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def converse(folder: Path, *prompts: str, args: tuple[str, ...] = ()) -> Editor:
    """Hold a conversation with the scripted agent through a tap."""
    command = ["--", *agent("script").split()]
    with editor(*args, *command, cwd=folder) as tap:
        tap.write(lines(INITIALIZE, call(1, "session/new", cwd=str(folder), mcpServers=[])))
        for number, text in enumerate(prompts, start=2):
            tap.write(lines(prompt(number, text)))
            wait_until(partial(tap.has_answered, number))
        assert tap.end() == 0
    return tap


def test_a_tap_is_a_session_of_acp_tui(tmp_path: Path) -> None:
    converse(tmp_path, "hello there")
    session = recorded()
    listed = run("sessions").out
    assert session.id in listed
    assert "hello there" in listed
    assert session.text("session_id") == "session-1"
    assert session.meta["agent_title"] == "scripted"
    assert run("replay", session.id, "--text").out.startswith("> hello there\n\nhello there\n")
    assert "hello there" in run("export", session.id, "--html").out
    assert "hello there" in run("sessions", "show", session.id).out
    assert [type(frame) for frame in frames("sent")] == [dict, dict, dict]


def test_what_passed_is_in_the_log_with_the_end_of_the_agent(tmp_path: Path) -> None:
    with editor("--", *ECHO, cwd=tmp_path) as tap:
        tap.write(b'{"id":1}\nnoise\r\n\n{"id":2}')
        tap.end()
    assert frames("sent") == [{"id": 1}, "noise\r", {"id": 2}] == frames("received")
    assert frames("client")[0]["command"] == ECHO
    assert frames("client")[-1] == {"event": "agent_exited", "exit_code": 0, "expected": True}
    times = [record.at for record in recorded().records()]
    assert times[0] == min(times)
    assert recorded().meta["cwd"] == str(tmp_path)


def test_an_agent_that_ends_by_itself_was_not_expected_to() -> None:
    with editor(*python("os.write(1, b'x')")) as tap:
        assert tap.process.wait(TIMEOUT_SECONDS) == 0
    assert frames("client")[-1] == {"event": "agent_exited", "exit_code": 0}


def test_stderr_is_recorded(tmp_path: Path) -> None:
    with editor(*python("os.write(2, b'it failed\\n'); sys.exit(1)")) as tap:
        tap.end()
    assert (recorded().path / "stderr.log").read_text().endswith(" │ it failed\n")
    assert frames("client")[-1]["stderr_tail"] == ["it failed"]


def test_the_log_can_be_a_file(tmp_path: Path) -> None:
    log = tmp_path / "frames.jsonl"
    converse(tmp_path, "hello there", args=("--log", str(log)))
    assert list_sessions(paths().data) == []
    assert run("replay", str(log), "--text").out.startswith("> hello there\n")
    assert (tmp_path / "frames.jsonl.stderr").exists()
    assert log.stat().st_mode & 0o777 == 0o600


def test_secrets_are_not_recorded_but_passed_on(tmp_path: Path) -> None:
    server = {"name": "s", "command": "c", "args": [], "env": [{"name": "MY_TOKEN", "value": "hunter2"}]}
    data = lines(call(1, "session/new", cwd="/", mcpServers=[server]), prompt(2, "x" * 2 * MEGABYTE))
    with editor("--", *ECHO) as tap:
        tap.write(data)
        tap.end()
        assert bytes(tap.out) == data
    assert "hunter2" not in recorded().wire.read_text()


def test_secrets_at_the_beginning_of_a_long_line_are_not_recorded() -> None:
    server = {"name": "s", "command": "c", "args": [], "env": [{"name": "MY_TOKEN", "value": "hunter2"}]}
    with editor("--", *ECHO) as tap:
        tap.write(lines(call(1, "session/new", mcpServers=[server], cwd="/" + "x" * 2 * MEGABYTE)))
        tap.end()
    assert "hunter2" not in recorded().wire.read_text()


def test_of_a_long_line_the_size_and_the_beginning_are_recorded(tmp_path: Path) -> None:
    message = prompt(2, "look at this", "y" * 5 * MEGABYTE)
    with editor("--", *ECHO) as tap:
        tap.write(lines(message))
        tap.end()
    (frame,) = frames("sent")
    assert frame["_shortened"] == len(lines(message)) - 1
    assert (frame["id"], frame["params"]["prompt"][0]["text"]) == (2, "look at this")
    assert 60_000 < len(frame["params"]["prompt"][1]["text"]) < 65_536
    assert "look at this" in run("sessions").out


def test_recording_stops_at_the_limit(tmp_path: Path) -> None:
    with editor("--max-size", "20kB", "--", *ECHO) as tap:
        tap.write(lines(*(prompt(number, "z" * 1000) for number in range(40))))
        tap.end()
        assert tap.out.count(b"\n") == 40
    assert recorded().wire.stat().st_size < 21_000
    assert frames("client")[-1]["text"].startswith("Recording stopped")
    assert b"acp-tui tap: Recording stopped" in tap.err


def limit_file_sizes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("--log", "/dev/full"), "is a device"),
        (("--log", "/no/such/folder/x"), "No such file"),
        ((), "large"),
    ],
)
def test_messages_are_passed_on_if_the_log_cannot_be_written(args: tuple[str, ...], reason: str) -> None:
    data = lines(*(prompt(number, "z" * 1000) for number in range(40)))
    with editor(*args, "--", *ECHO, preexec_fn=None if args else limit_file_sizes) as tap:
        tap.write(data)
        assert tap.end() == 0
        assert bytes(tap.out) == data
    assert len(tap.err.splitlines()) == 1
    assert reason.encode() in tap.err


def test_an_agent_can_be_named(tmp_path: Path) -> None:
    with editor("demo") as tap:
        tap.write(lines(INITIALIZE))
        wait_until(lambda: b'"agentInfo"' in tap.out)
        tap.end()
    assert recorded().text("agent") == "demo"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"jsonrpc":"2.0","method":"x"}\n' * 40_000, id="flood"),
        pytest.param(b"x" * MEGABYTE, id="no line end"),
        pytest.param(b"[" + b"[]," * 300_000 + b"1]\n", id="brackets"),
        pytest.param('{{"password":"{}\U0001f600"}}\n'.format("word " * 180_000).encode(), id="wide"),
    ],
)
def test_memory_does_not_depend_on_what_comes(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "line").write_bytes(line)
    code = (
        f"data = open({str(tmp_path / 'line')!r}, 'rb').read()\n"
        "for _ in range(60): sys.stdout.buffer.write(data)\n"
        "sys.stdout.flush()\nsys.stdin.read()"
    )
    with editor(*python(code)) as tap:
        wait_until(lambda: len(tap.out) == 60 * len(line))
        ours = [pid for pid in processes_with(tap.mark) if b"wire/tap.py" in _command_line(pid)]
        assert len(ours) == 2
        assert max(map(_peak_megabytes, ours)) <= 35
        tap.end()


def _command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _peak_megabytes(pid: int) -> float:
    (line,) = [
        row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if row.startswith("VmHWM:")
    ]
    return int(line.split()[1]) / 1000


# --------------------------------------------------------------------------- the command line


@pytest.mark.parametrize("editor_name", ["zed", "jetbrains"])
def test_the_settings_for_an_editor_name_the_file_and_the_command(editor_name: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").touch()
    done = run("tap", "--print-config", editor_name, "--", "python3", "agent.py", "-v", cwd=tmp_path)
    comment, settings = done.out.split("\n", 1)
    assert comment.startswith("// In ~/.")
    server = json.loads(settings)["agent_servers"]["agent.py (tap)"]
    assert server["command"].endswith("acp-tui")
    assert server["args"][:2] == ["tap", "--"]
    assert server["args"][3:] == [str(tmp_path / "agent.py"), "-v"]


def test_the_settings_for_neovim_are_for_both_plugins(tmp_path: Path) -> None:
    out = run("tap", "--print-config", "neovim", "--", "python3", '-c "x\\y"', cwd=tmp_path).out
    assert out.startswith("-- In ~/.config/nvim/init.lua")
    assert 'require("codecompanion").setup' in out
    assert 'require("avante").setup' in out
    assert out.count(r'"-c \"x\\y\""') == 2


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "Name an agent"),
        (["demo", "--", "cat"], "but not both"),
        (["cat"], "acp-tui tap -- cat"),
        (["--max-size", "much", "--", "cat"], "size such as"),
    ],
)
def test_mistakes_are_explained(args: list[str], sentence: str) -> None:
    done = run("tap", *args)
    assert done.code == 2
    assert sentence in done.err
