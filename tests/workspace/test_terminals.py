"""The terminals that agents create, with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from acp_tui.errors import Refusal
from acp_tui.workspace.terminals.pty_process import ExitStatus
from acp_tui.workspace.terminals.terminals import Terminals
from tests.support.leftovers import parent, processes_with
from tests.support.waiting import until, wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NOT_FOUND, INVALID_PARAMS = -32002, -32602
PROJECT = Path(__file__).parents[2]


class TerminalEvents:
    """Collects the output and exits that terminals report."""

    def __init__(self) -> None:
        self.raw: dict[str, str] = {}
        self.exits: list[tuple[str, int | None, str | None]] = []
        self.raw_at_exit: dict[str, str] = {}

    def output(self, terminal_id: str, text: str) -> None:
        self.raw[terminal_id] = self.raw.get(terminal_id, "") + text

    def exit(self, terminal_id: str, code: int | None, name: str | None) -> None:
        self.exits.append((terminal_id, code, name))
        self.raw_at_exit[terminal_id] = self.raw.get(terminal_id, "")


class Bench(NamedTuple):
    """Terminals and what they reported."""

    terminals: Terminals
    events: TerminalEvents

    async def run(self, command: str, *args: str, **options: object) -> tuple[str, bool, ExitStatus | None]:
        """Run a command to its end and return what the agent reads."""
        terminal = await self.terminals.create(command, args, **options)  # type: ignore[arg-type]
        await self.terminals.wait_for_exit(terminal)
        return self.terminals.output(terminal)

    async def started(self, script: str) -> tuple[str, list[int]]:
        """Start a script that prints "ready" and process ids; return terminal id and process ids."""
        terminal = await self.terminals.create("sh", ["-c", script])
        await until(lambda: "ready" in self.events.raw.get(terminal, ""))
        return terminal, [int(word) for word in self.events.raw[terminal].split() if word.isdecimal()]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    events = TerminalEvents()
    terminals = Terminals(tmp_path, on_output=events.output, on_exit=events.exit, grace=0.3)
    yield Bench(terminals, events)
    await terminals.close()
    assert watchers() == []


def alive(pid: int) -> bool:
    """Return whether the process is running. Zombies are not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state) and not state.startswith("Z")


def watchers() -> list[int]:
    """Return the watcher processes of this test run."""
    return [pid for pid in processes_with("watcher.py") if parent(pid) == os.getpid()]


async def until_gone(*pids: int) -> None:
    await until(lambda: not any(map(alive, pids)))


async def refused(awaitable: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await awaitable  # type: ignore[misc]
    return caught.value


# --------------------------------------------------------------------------- running


async def test_a_command_with_arguments_runs_without_a_shell(bench: Bench) -> None:
    text, truncated, status = await bench.run("echo", "$HOME", "a  b;c")
    assert (text, truncated, status) == ("$HOME a  b;c\n", False, ExitStatus(0, None))


async def test_a_command_line_runs_in_the_users_shell(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell = tmp_path / "myshell"
    shell.write_text('#!/bin/sh\necho "mine: $2"\nexec sh "$@"\n')
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    text, _, _ = await bench.run("echo one && echo two | tr a-z A-Z", env={"SHELL": "/bin/false"})
    assert text == "mine: echo one && echo two | tr a-z A-Z\none\nTWO\n"


async def test_a_default_shell_is_used_if_shell_is_invalid(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/no/such/shell")
    assert (await bench.run("echo one; echo two"))[0] == "one\ntwo\n"


async def test_a_program_path_with_spaces_is_not_a_command_line(bench: Bench, tmp_path: Path) -> None:
    program = tmp_path / "my tool"
    program.write_text("#!/bin/sh\necho it works\n")
    program.chmod(0o755)
    assert (await bench.run(str(program)))[0] == "it works\n"


async def test_a_command_runs_in_the_session_folder_or_the_given_one(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert (await bench.run("pwd", "-P"))[0] == f"{tmp_path.resolve()}\n"
    assert (await bench.run("pwd", "-P", cwd=str(tmp_path / "sub")))[0] == f"{(tmp_path / 'sub').resolve()}\n"


async def test_a_relative_program_is_relative_to_the_given_folder(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "tool").write_text("#!/bin/sh\necho tool\n")
    (tmp_path / "sub" / "tool").chmod(0o755)
    assert (await bench.run("./tool", cwd=str(tmp_path / "sub")))[0] == "tool\n"


async def test_the_environment_is_inherited_and_extended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INHERITED", "1")
    monkeypatch.setenv("BASH_FUNC_hi%%", "() { echo hi; }")  # a name that some shells drop
    monkeypatch.setenv("COLUMNS", "7")
    text, _, _ = await bench.run("env", env={"EXTRA": "a b", "TERM": "dumb"})
    lines = text.split("\n")
    assert {
        "INHERITED=1",
        "PAGER=cat",
        "EXTRA=a b",
        "TERM=dumb",
        "COLORTERM=truecolor",
    } <= set(lines)
    assert "BASH_FUNC_hi%%=() { echo hi; }" in lines
    assert "COLUMNS=7" not in lines


async def test_the_program_is_found_on_the_given_path(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "uname").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "uname").chmod(0o755)
    assert (await bench.run("uname", env={"PATH": f"{tmp_path}:/usr/bin:/bin"}))[0] == "mine\n"


async def test_a_command_has_its_own_controlling_terminal(bench: Bench) -> None:
    script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM && echo controlled > /dev/tty"
    assert (await bench.run("sh", "-c", script))[0] == "40 120\nxterm-256color\ncontrolled\n"
    terminal, (leader,) = await bench.started("echo $$ ready; cat")
    assert os.getsid(leader) == os.getpgid(leader) == leader
    await bench.terminals.release(terminal)


async def test_output_is_reported_raw_and_read_as_plain_text(bench: Bench) -> None:
    text, _, _ = await bench.run("printf", r"10%%\r\033[32m20%%\033[0m\n")
    assert text == "20%\n"
    assert bench.events.raw["term-1"] == "10%\r\x1b[32m20%\x1b[0m\r\n"


async def test_characters_split_between_writes_are_joined(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    script = r"printf 'a\346\227'; read line < gate; printf '\245\377|\346'"
    terminal = await bench.terminals.create("sh", ["-c", script])
    await until(lambda: "a" in bench.events.raw.get(terminal, ""))
    await asyncio.to_thread((tmp_path / "gate").write_text, "\n")
    await bench.terminals.wait_for_exit(terminal)
    assert bench.terminals.output(terminal)[0] == "a日\ufffd|"


# --------------------------------------------------------------------------- exit


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("exit 0", ExitStatus(0, None)),
        ("exit 3", ExitStatus(3, None)),
        ("kill -KILL $$", ExitStatus(None, "SIGKILL")),
        ("kill -HUP $$", ExitStatus(None, "SIGHUP")),
    ],
)
async def test_an_exit_has_a_code_or_a_signal(bench: Bench, script: str, status: ExitStatus) -> None:
    text, _, exit_status = await bench.run("sh", "-c", f"echo last words; {script}")
    assert (text, exit_status) == ("last words\n", status)
    assert bench.events.exits == [("term-1", status.exit_code, status.signal)]


async def test_a_running_command_has_output_and_no_exit_status(bench: Bench) -> None:
    terminal, _ = await bench.started("echo ready; exec sleep 1000")
    assert bench.terminals.output(terminal) == ("ready\n", False, None)


async def test_all_output_is_available_at_the_exit(bench: Bench) -> None:
    results = await asyncio.gather(*(bench.run("sh", "-c", "seq 1000; exit 1") for _ in range(10)))
    expected = "".join(f"{number}\n" for number in range(1, 1001))
    assert all(text == expected for text, _, _ in results)
    assert set(bench.events.raw_at_exit.values()) == {expected.replace("\n", "\r\n")}


async def test_waiting_ends_while_a_grandchild_has_the_terminal_open(bench: Bench) -> None:
    script = "trap '' HUP; sleep 1000 & echo $! started"
    terminal = await bench.terminals.create("sh", ["-c", script])
    assert await bench.terminals.wait_for_exit(terminal) == ExitStatus(0, None)
    text, _, _ = bench.terminals.output(terminal)
    assert "started" in text
    grandchild = int(text.split()[0])
    assert alive(grandchild)
    await bench.terminals.release(terminal)
    await until_gone(grandchild)


async def test_waiting_ends_while_a_grandchild_writes_continuously(bench: Bench) -> None:
    await bench.terminals.wait_for_exit(
        await bench.terminals.create("sh", ["-c", "trap '' HUP; yes late & exit 4"])
    )
    assert bench.events.exits == [("term-1", 4, None)]


async def test_output_of_a_grandchild_after_the_exit_is_reported(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    script = "trap '' HUP; (read line < gate; echo $line) & exit 0"
    terminal = await bench.terminals.create("sh", ["-c", script])
    await bench.terminals.wait_for_exit(terminal)
    await asyncio.to_thread((tmp_path / "gate").write_text, "late words\n")
    await until(lambda: "late words" in bench.events.raw.get(terminal, ""))
    assert bench.terminals.output(terminal)[0] == "late words\n"


async def test_a_program_that_closes_its_terminal_keeps_running(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    script = "exec > log 2>&1 < /dev/null; read line < gate; echo $line; echo back > /dev/tty; exit 5"
    terminal = await bench.terminals.create("sh", ["-c", script])
    await asyncio.to_thread((tmp_path / "gate").write_text, "went on\n")
    assert await bench.terminals.wait_for_exit(terminal) == ExitStatus(5, None)
    assert (tmp_path / "log").read_text() == "went on\n"
    assert bench.terminals.output(terminal)[0] == "back\n"


async def test_several_tasks_can_wait_for_an_exit(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    terminal, _ = await bench.started("echo ready; read line < gate; exit 7")
    waiting = [asyncio.create_task(bench.terminals.wait_for_exit(terminal)) for _ in range(3)]
    waiting.pop().cancel()
    await asyncio.to_thread((tmp_path / "gate").write_text, "\n")
    assert await asyncio.gather(*waiting) == [ExitStatus(7, None)] * 2


# --------------------------------------------------------------------------- kill, release, close

PROCESS_GROUP = "sleep 1000 & echo $! $$; (trap '' TERM HUP; echo ready; while :; do sleep 1; done) & wait"


async def test_kill_ends_the_process_group_and_keeps_the_output(bench: Bench) -> None:
    terminal, pids = await bench.started(PROCESS_GROUP)
    await bench.terminals.kill(terminal)
    await until_gone(*pids)
    text, _, status = bench.terminals.output(terminal)
    assert "ready" in text
    assert status == ExitStatus(None, "SIGTERM")
    await bench.terminals.kill(terminal)  # killing twice is no error
    assert await bench.terminals.wait_for_exit(terminal) == status


async def test_kill_sends_sigterm_and_then_sigkill(bench: Bench) -> None:
    polite, _ = await bench.started(
        "trap 'echo cleaned up; exit 9' TERM; echo ready; while :; do sleep 0.01; done"
    )
    await bench.terminals.kill(polite)
    text, _, status = bench.terminals.output(polite)
    assert text.endswith("cleaned up\n")
    assert status == ExitStatus(9, None)
    stubborn, _ = await bench.started("trap '' TERM; echo ready; while :; do sleep 1; done")
    await bench.terminals.kill(stubborn)
    assert bench.terminals.output(stubborn)[2] == ExitStatus(None, "SIGKILL")


async def test_a_stopped_process_is_killed_too(bench: Bench) -> None:
    terminal, (pid,) = await bench.started("echo $$ ready; exec sleep 1000")
    os.kill(pid, signal.SIGSTOP)
    await bench.terminals.kill(terminal)
    assert bench.terminals.output(terminal)[2] == ExitStatus(None, "SIGTERM")


async def test_release_kills_the_process_group_and_ends_waiting(bench: Bench) -> None:
    terminal, pids = await bench.started(PROCESS_GROUP)
    waiting = asyncio.create_task(bench.terminals.wait_for_exit(terminal))
    await asyncio.gather(bench.terminals.release(terminal), waiting)
    await until_gone(*pids)
    assert waiting.result() == ExitStatus(None, "SIGTERM")
    assert bench.events.exits == [(terminal, None, "SIGTERM")]


async def test_a_released_terminal_cannot_be_used(bench: Bench) -> None:
    terminal = await bench.terminals.create("true")
    await bench.terminals.release(terminal)
    for use in (bench.terminals.wait_for_exit, bench.terminals.kill, bench.terminals.release):
        refusal = await refused(use(terminal))
        assert (refusal.code, refusal.message) == (NOT_FOUND, "the terminal 'term-1' was released")
    with pytest.raises(Refusal, match="was released"):
        bench.terminals.output(terminal)
    with pytest.raises(Refusal, match="no terminal 'term-2'"):
        bench.terminals.output("term-2")


async def test_close_ends_all_terminals(bench: Bench) -> None:
    process_groups = await asyncio.gather(*(bench.started(PROCESS_GROUP) for _ in range(3)))
    await bench.terminals.close()
    await until_gone(*(pid for _, pids in process_groups for pid in pids))
    assert len(bench.events.exits) == 3
    assert "closed" in (await refused(bench.terminals.create("true"))).message


START_AND_WAIT = """
import asyncio
from acp_tui.workspace.terminals.terminals import Terminals

async def main():
    out = lambda terminal, text: print(text, flush=True)
    terminals = Terminals("/", on_output=out, on_exit=lambda *end: None)
    script = "trap '' HUP TERM; sleep 1000 & echo $$ $!; while :; do sleep 1; done"
    await terminals.create("sh", ["-c", script])
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_terminals_end_when_acp_tui_is_killed() -> None:
    run = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", START_AND_WAIT), stdout=asyncio.subprocess.PIPE, cwd=PROJECT
    )
    assert run.stdout
    pids: list[int] = []
    while len(pids) < 2:
        pids += [int(word) for word in (await run.stdout.readline()).split() if word.isdigit()]
    assert all(map(alive, pids))
    run.kill()
    await run.wait()
    await until_gone(*pids)


async def test_the_watcher_ends_with_its_terminal(bench: Bench) -> None:
    await bench.run("true")
    await asyncio.to_thread(wait_until, lambda: not watchers())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
async def test_a_daemon_runs_until_the_session_is_closed(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "number")
    daemon = (
        f"env -i setsid -f sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/number; exec sleep 4323'; exec cat"
    )
    terminal = await bench.terminals.create("sh", ["-c", daemon])
    pid = int(await asyncio.to_thread((tmp_path / "number").read_text))
    await bench.terminals.release(terminal)
    assert alive(pid)
    await bench.terminals.close()
    assert not alive(pid)


async def test_killing_the_watcher_ends_the_program(bench: Bench) -> None:
    terminal, pids = await bench.started("echo $$ ready; exec sleep 1000")
    (watcher,) = watchers()
    os.kill(watcher, signal.SIGKILL)
    assert await bench.terminals.wait_for_exit(terminal) == ExitStatus(None, "SIGKILL")
    await until_gone(*pids)


async def test_the_watcher_does_not_use_the_environment_of_the_program(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    text, _, _ = await bench.run("env", env={"LANG": "C", "LD_LIBRARY_PATH": "/nowhere"})
    lines = text.split("\n")
    assert {"LANG=C", "LD_LIBRARY_PATH=/nowhere"} <= set(lines)
    assert not any(line.startswith("LC_") for line in lines)


async def test_50_terminals_run_at_once(bench: Bench) -> None:
    async def run_one(number: int) -> None:
        assert (await bench.run("sh", "-c", f"echo {number}; seq 500; exit {number}"))[2] == ExitStatus(
            number, None
        )

    await asyncio.gather(*map(run_one, range(50)))
    assert len(bench.events.exits) == 50


# --------------------------------------------------------------------------- refusals


async def test_an_unknown_command_is_refused(bench: Bench) -> None:
    refusal = await refused(bench.terminals.create("no-such-command", ["x"]))
    assert refusal.code == NOT_FOUND
    assert refusal.message == "the command 'no-such-command' was not found"
    assert refusal.data == {"command": "no-such-command"}
    assert (await refused(bench.terminals.create("no such", ["x"]))).code == NOT_FOUND


async def test_a_file_that_is_not_executable_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("text")
    assert (await refused(bench.terminals.create("./notes"))).message == "./notes is not executable"
    assert (await refused(bench.terminals.create(str(tmp_path)))).message == f"{tmp_path} is a directory"


async def test_an_invalid_working_directory_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    gone = await refused(bench.terminals.create("true", cwd=str(tmp_path / "gone")))
    assert (gone.code, gone.message) == (
        NOT_FOUND,
        f"the working directory {tmp_path / 'gone'} does not exist",
    )
    assert (
        "is not a directory"
        in (await refused(bench.terminals.create("true", cwd=str(tmp_path / "file")))).message
    )
    assert "absolute" in (await refused(bench.terminals.create("true", cwd="relative"))).message


@pytest.mark.parametrize(
    "options",
    [
        {"args": ["a\0b"]},
        {"env": {"A": "a\0b"}},
        {"env": {"": "x"}},
        {"env": {"A=B": "x"}},
        {"args": ["\ud800"]},
        {"output_byte_limit": -1},
    ],
)
async def test_invalid_arguments_and_variables_are_refused(bench: Bench, options: dict[str, object]) -> None:
    assert (await refused(bench.terminals.create("true", **options))).code == INVALID_PARAMS  # type: ignore[arg-type]
    assert watchers() == []


async def test_arguments_that_are_too_long_are_refused(bench: Bench) -> None:
    refusal = await refused(bench.terminals.create("true", ["x" * 8_000_000]))
    assert "cannot be started" in refusal.message


# --------------------------------------------------------------------------- output limits


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (0, ("", True)),
        (1, ("\n", True)),
        (2, ("\n", True)),  # é takes two bytes, and only one of them would fit
        (3, ("é\n", True)),
        (7, ("日é\n", True)),
        (8, ("é日é\n", True)),
        (9, ("aé日é\n", False)),
        (None, ("aé日é\n", False)),
        (10**15, ("aé日é\n", False)),
    ],
)
async def test_output_is_truncated_at_the_start_between_characters(
    bench: Bench, limit: int | None, expected: tuple[str, bool]
) -> None:
    text, truncated, _ = await bench.run("printf", "aé日é\n", output_byte_limit=limit)
    assert (text, truncated) == expected


async def test_empty_output_is_not_truncated(bench: Bench) -> None:
    assert (await bench.run("true", output_byte_limit=0))[:2] == ("", False)


async def test_truncated_output_keeps_its_end(bench: Bench) -> None:
    text, truncated, _ = await bench.run("seq", "100000", output_byte_limit=50)
    assert truncated
    assert len(text) == 50
    assert text.endswith("\n99998\n99999\n100000\n")


FLOOD = """
import asyncio, resource, sys
from acp_tui.workspace.terminals.terminals import Terminals

async def main():
    total = turns = 0
    def take(terminal, text):
        nonlocal total
        total += len(text)
    async def other_work():
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1
    terminals = Terminals("/", on_output=take, on_exit=lambda *end: None)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work = asyncio.create_task(other_work())
    terminal = await terminals.create("sh", ["-c", 'yes "$(printf %0999d 0)" | head -c 50000000'])
    await terminals.wait_for_exit(terminal)
    text, truncated, status = terminals.output(terminal)
    work.cancel()
    await terminals.close()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(total, turns, len(text), truncated, status.exit_code)
    print(grown if sys.platform == "linux" else grown // 1024)

asyncio.run(main())
"""


async def test_50_mb_of_output_do_not_grow_memory_or_block_other_tasks(tmp_path: Path) -> None:
    # In a separate process, because earlier tests affect the memory use.
    run = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FLOOD), stdout=asyncio.subprocess.PIPE, cwd=PROJECT
    )
    output, _ = await run.communicate()
    total, turns, length, truncated, code, kilobytes = output.decode().split()
    assert int(total) == 50_000_000 + 50_000  # with a carriage return for each line
    assert int(length) == 1024 * 1024
    assert (truncated, code) == ("True", "0")
    assert int(turns) > 1000
    assert int(kilobytes) < 40_000
