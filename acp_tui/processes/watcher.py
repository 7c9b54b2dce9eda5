"""The small process that ends what acp-tui started when acp-tui is gone, however it went.

Run as a file, on nothing but the interpreter:
`python -I -S watcher.py CONTROL [[--terminal] PATH ARGV0 ARG…]`.
CONTROL is the inherited end of a socket whose other end only acp-tui holds: when that closes, also because
of SIGKILL, everything is ended. With a program, that is started here as a child: on Linux, where this
process is a subreaper, even a daemon that left its group and its session comes back to it and is found.
Other systems have nothing like that: there only the program's process group is ended.

With `--terminal` the program may leave processes behind when it ends. They live on until CONTROL closes;
when none is left, the watcher ends. The program's environment is read from CONTROL first: entries separated
by a NUL, with two NULs at the end. The watcher itself runs in the environment of acp-tui, because an agent's
`LD_LIBRARY_PATH` must not break it, and because Python adds LC_CTYPE to an environment with LANG=C.

From acp-tui come lines: `watch PGID`, `forget PGID`, and `mark TEXT`, which ends every process with that
text in its environment (for what was not started here). Back go `started PID`, then `exit CODE` or
`signal N`; or `failed ERRNO`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

KILL_GRACE_SECONDS = 1.5
"""Seconds between SIGTERM and SIGKILL, and then until we give up on what cannot be killed."""
PR_SET_CHILD_SUBREAPER = 36
HAS_PROC = os.access("/proc/self/stat", os.R_OK)


# --------------------------------------------------------------------------- what is left


class Targets:
    """What is to be ended, and how to find what is left of it."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.mark = b""

    def living(self) -> dict[int, int]:
        """Who is still there, and its group; without /proc only whole groups, under their own number."""
        if not HAS_PROC:
            return {group: group for group in self.groups if _send(-group, 0)}
        names = os.listdir("/proc")  # noqa: PTH208  # pathlib is slow to import
        table = {int(name): entry for name in names if name.isdigit() and (entry := _stat(name))}
        below = _below(os.getpid(), table)
        return {
            pid: group
            for pid, (_, group, session) in table.items()
            if pid in below or group in self.groups or session in self.groups or self._is_marked(pid)
        }

    def _is_marked(self, pid: int) -> bool:
        if not self.mark:
            return False
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self.mark in file.read()
        except OSError:
            return False


def _stat(pid: str) -> tuple[int, int, int] | None:
    """Parent, group and session of a process.

    None for a zombie, unless it is a child of ours: that counts as living until we have collected it, so
    that its exit status is reported, and because other threads of it may still run.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent, group, session = file.read().rpartition(b")")[2].split(None, 4)[:4]
    except (OSError, ValueError):
        return None  # gone meanwhile
    if state in (b"Z", b"X") and int(parent) != os.getpid():
        return None
    return int(parent), int(group), int(session)


def _below(ancestor: int, table: dict[int, tuple[int, int, int]]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    open_ends = [ancestor]
    while open_ends:
        fresh = [pid for pid in children.get(open_ends.pop(), ()) if pid not in found]
        found.update(fresh)
        open_ends.extend(fresh)
    return found


# --------------------------------------------------------------------------- ending it


def _send(target: int, number: int) -> bool:
    try:
        os.kill(target, number)
    except OSError:
        return False  # gone, or not ours to end
    return True


def end_all(watched: Targets, reap: ChildReaper) -> None:
    """End everything: a request, patience, then force.

    Signals go to whole groups, at once: a shell whose command dies first would go on to its next one.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        told: set[int] = set()
        pause = 0.005
        until = time.monotonic() + KILL_GRACE_SECONDS
        while time.monotonic() < until:
            reap()
            living = watched.living()
            if not living:
                return
            for group in {group for pid, group in living.items() if pid not in told}:
                _send(-group, number)
            if number == signal.SIGTERM:  # asked once, but for those that were forked meanwhile
                told.update(living)
            time.sleep(pause)
            pause = min(pause * 2, 0.1)
    reap()


# --------------------------------------------------------------------------- the child


class ChildReaper:
    """Collects children that ended, and reports how the program did."""

    def __init__(self, control: int) -> None:
        self._control = control
        self.program: int | None = None
        self.ended = False
        """The program has ended."""
        self.childless = False
        """No child is left: for a subreaper, no descendant either."""

    def __call__(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid == 0:
                return
            if pid == self.program and not self.ended:  # later its number may be a descendant's
                self.ended = True
                code = os.waitstatus_to_exitcode(status)
                self.report(f"exit {code}" if code >= 0 else f"signal {-code}")

    def report(self, line: str) -> None:
        """Tell acp-tui, if it is still there."""
        with contextlib.suppress(OSError):
            os.write(self._control, line.encode() + b"\n")


def start(path: str, argv: list[str], environment: dict[bytes, bytes] | None = None) -> int | OSError:
    """Start the program as a child in a session of its own; return when it runs.

    Without an environment it gets that of the watcher.
    """
    failed, fails = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            if environment is None:
                os.execv(path, argv)  # noqa: S606  # that is the purpose
            os.execve(path, argv, environment)  # noqa: S606
        except OSError as error:
            os.write(fails, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(fails)
    with open(failed, "rb") as pipe:
        failure = pipe.read()
    return OSError(int(failure), "") if failure else child


def receive_environment(control: int) -> dict[bytes, bytes] | None:
    """Read the program's environment; None when acp-tui is gone."""
    block = b""
    while not block.endswith(b"\0\0"):
        try:
            piece = os.read(control, 65536)
        except OSError:
            return None
        if not piece:
            return None
        block += piece
    pairs = [entry.partition(b"=") for entry in block[:-2].split(b"\0") if entry]
    return {name: value for name, _, value in pairs}


def become_subreaper() -> None:
    """Linux: orphans among our descendants become our children instead of init's."""
    if HAS_PROC:
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


# --------------------------------------------------------------------------- the watch


def watch(control: int, watched: Targets, reap: ChildReaper, wake: int, *, lingers: bool) -> None:
    """Wait until acp-tui is gone or the program has ended; if it `lingers`, until nothing of it is left."""
    buffer = b""
    while not reap.ended or (lingers and (watched.groups or not reap.childless)):
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            reap()
            if reap.ended and lingers:
                # The number of a group without members may be a stranger's next.
                watched.groups = {group for group in watched.groups if _send(-group, 0)}
        if control in ready:
            try:
                block = os.read(control, 65536)
            except OSError:
                return
            if not block:
                return
            *lines, buffer = (buffer + block).split(b"\n")
            for line in lines:
                _obey(line, watched)


def _obey(line: bytes, watched: Targets) -> None:
    word, _, value = line.partition(b" ")
    if word == b"watch":
        watched.groups.add(int(value))
    elif word == b"forget":
        watched.groups.discard(int(value))
    elif word == b"mark":
        watched.mark = value


def main(argv: list[str]) -> None:
    """Start, watch, end."""
    control, program = int(argv[1]), argv[2:]
    lingers = program[:1] == ["--terminal"]
    os.set_inheritable(control, False)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # only acp-tui's end is ours
    watched, reap = Targets(), ChildReaper(control)
    environment = None
    if lingers:
        del program[0]
        environment = receive_environment(control)
        if environment is None:
            return
    if program:
        become_subreaper()
        child = start(program[0], program[1:], environment)
        if isinstance(child, OSError):
            reap.report(f"failed {child.errno}")
            return
        reap.program = child
        watched.groups.add(child)
        reap.report(f"started {child}")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the program's own; holding them would hide their end
        os.dup2(nowhere, stream)
    os.chdir("/")  # keep no folder in use
    watch(control, watched, reap, wake, lingers=lingers)
    if watched.groups or not (reap.ended and reap.childless):
        end_all(watched, reap)


if __name__ == "__main__":
    main(sys.argv)
