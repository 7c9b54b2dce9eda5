"""The watcher: a small process that ends the children of acp-tui when acp-tui ends, even if by SIGKILL.

Run as a script, with the standard library only:
`python -I -S watcher.py CONTROL [[--terminal] PATH ARGV0 ARG…]`.
CONTROL is an inherited socket. Only acp-tui holds the other end, so CONTROL closes when acp-tui ends for
whatever reason. The watcher then ends everything it watches. If a program is given, the watcher starts the
program as a child. On Linux the watcher is a subreaper: even daemons that left their process group and
session become children of the watcher again. On other systems, only the program's process group and the
groups named in `watch` lines are ended.

With `--terminal` the watcher first reads the program's environment from CONTROL: a NUL after each entry, and
another NUL at the end. The watcher itself does not run in that environment: an agent's `LD_LIBRARY_PATH`
could break the watcher, and Python would add LC_CTYPE to an environment with LANG=C before the program
starts. The program can leave processes running when it ends. These processes live until CONTROL closes; once
none is left, the watcher ends.

acp-tui sends lines: `watch PGID` and `forget PGID` for the process groups to end, and `mark TEXT` to also end
every process with TEXT in its environment (for processes that the watcher did not start). `scratch PATH` and
`discard PATH`, with the bytes of PATH as hexadecimal digits, name temporary folders to delete when all
processes have ended. The watcher sends `started PID`, then `exit CODE` or `signal NUMBER`; or `failed ERRNO`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable

KILL_GRACE_SECONDS = 1.5
"""Seconds to wait after SIGTERM before sending SIGKILL, and after SIGKILL before giving up."""
PR_SET_CHILD_SUBREAPER = 36
HAS_PROC = os.access("/proc/self/stat", os.R_OK)


# --------------------------------------------------------------------------- finding processes


class Targets:
    """What to end: process groups, and processes with a certain text in their environment.

    Also the temporary folders to delete afterwards.
    """

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.mark = b""
        self.folders: set[bytes] = set()

    def living(self) -> dict[int, int]:
        """Return the living processes, each with its process group.

        Without /proc, processes are unknown: each living group is mapped to itself.
        """
        if not HAS_PROC:
            return {group: group for group in self.groups if _send_signal(-group, 0)}
        names = os.listdir("/proc")  # noqa: PTH208  # pathlib is slow to import
        table = {int(name): entry for name in names if name.isdigit() and (entry := _read_stat(name))}
        descendants = _descendants(os.getpid(), table)
        return {
            pid: group
            for pid, (_, group, session) in table.items()
            if pid in descendants or group in self.groups or session in self.groups or self._is_marked(pid)
        }

    def _is_marked(self, pid: int) -> bool:
        if not self.mark:
            return False
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self.mark in file.read()
        except OSError:
            return False


def _read_stat(pid: str) -> tuple[int, int, int] | None:
    """Return the ids of a process's parent, group and session; None if the process has ended.

    A zombie that is a child of the watcher counts as living until it is reaped: its exit status must be
    reported, and its other threads may still run.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent, group, session = file.read().rpartition(b")")[2].split(None, 4)[:4]
    except (OSError, ValueError):
        return None  # it has ended
    if state in (b"Z", b"X") and int(parent) != os.getpid():
        return None
    return int(parent), int(group), int(session)


def _descendants(ancestor: int, table: dict[int, tuple[int, int, int]]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    unvisited = [ancestor]
    while unvisited:
        new = [pid for pid in children.get(unvisited.pop(), ()) if pid not in found]
        found.update(new)
        unvisited.extend(new)
    return found


# --------------------------------------------------------------------------- ending processes


def _send_signal(target: int, number: int) -> bool:
    try:
        os.kill(target, number)
    except OSError:
        return False  # it has ended, or we lack permission
    return True


def end_all(targets: Targets, children: ChildReaper) -> None:
    """End everything with SIGTERM, and after the grace period with SIGKILL.

    Signals go to whole process groups, because a shell would continue with its next command if only the
    current one were ended.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        signaled: set[int] = set()
        pause = 0.005
        deadline = time.monotonic() + KILL_GRACE_SECONDS
        while time.monotonic() < deadline:
            children.reap()
            living = targets.living()
            if not living:
                return
            for group in {group for pid, group in living.items() if pid not in signaled}:
                _send_signal(-group, number)
            if number == signal.SIGTERM:  # repeat it only for groups with new processes
                signaled.update(living)
            time.sleep(pause)
            pause = min(pause * 2, 0.1)
    children.reap()


# --------------------------------------------------------------------------- the program


class ChildReaper:
    """Reaps children that have ended, and reports the exit status of the program."""

    def __init__(self, control: int) -> None:
        self._control = control
        self.program: int | None = None
        self.ended = False
        """Set once the program has ended."""
        self.returncode: int | None = None
        """The program's exit code, or the negated number of the signal that ended it."""
        self.childless = False
        """Set when no child is left; for a subreaper that means no descendant either."""

    def reap(self) -> None:
        """Collect the exit status of all children that have ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid == 0:
                return
            if pid == self.program and not self.ended:  # later its pid may be reused by a descendant
                self.ended = True
                code = self.returncode = os.waitstatus_to_exitcode(status)
                self.report(f"exit {code}" if code >= 0 else f"signal {-code}")

    def report(self, line: str) -> None:
        """Send a line to acp-tui if acp-tui is still running."""
        with contextlib.suppress(OSError):
            os.write(self._control, line.encode() + b"\n")


def start(path: str, argv: list[str], environment: dict[bytes, bytes] | None = None) -> int | OSError:
    """Start the program as a child in its own session; return its pid once it runs, or the error.

    If `environment` is None, the program inherits the watcher's environment.
    """
    failed, fails = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if environment is None:
                os.execv(path, argv)  # noqa: S606  # no shell on purpose
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
    """Read the program's environment from CONTROL; None if acp-tui is gone."""
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
    """On Linux, adopt orphaned descendants, which would otherwise become children of init."""
    if HAS_PROC:
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


# --------------------------------------------------------------------------- main loop


def watch(
    control: int, targets: Targets, children: ChildReaper, wakeup: int, *, wait_for_descendants: bool
) -> None:
    """Handle lines from acp-tui until acp-tui or the program has ended.

    With `wait_for_descendants`, wait until all descendants of the program have ended, too.
    """
    buffer = b""
    while not children.ended or (wait_for_descendants and (targets.groups or not children.childless)):
        ready, _, _ = select.select([control, wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 4096)
            children.reap()
            if children.ended and wait_for_descendants:
                # The system may reuse the id of an empty group.
                targets.groups = {group for group in targets.groups if _send_signal(-group, 0)}
        if control in ready:
            try:
                block = os.read(control, 65536)
            except OSError:
                return
            if not block:
                return
            *lines, buffer = (buffer + block).split(b"\n")
            for line in lines:
                _handle_line(line, targets)


def _handle_line(line: bytes, targets: Targets) -> None:
    word, _, value = line.partition(b" ")
    if word == b"watch":
        targets.groups.add(int(value))
    elif word == b"forget":
        targets.groups.discard(int(value))
    elif word == b"mark":
        targets.mark = value
    elif word == b"scratch":
        targets.folders.add(bytes.fromhex(value.decode()))
    elif word == b"discard":
        targets.folders.discard(bytes.fromhex(value.decode()))


def main(argv: list[str]) -> None:
    """Start the program, if one is given, and watch until acp-tui or the program has ended."""
    control, program = int(argv[1]), argv[2:]
    os.set_inheritable(control, False)
    on_terminal = program[:1] == ["--terminal"]
    if on_terminal:
        del program[0]
    supervise(control, program, on_terminal=on_terminal)


def supervise(
    control: int,
    program: list[str],
    environment: dict[bytes, bytes] | None = None,
    *,
    on_terminal: bool = False,
    on_start: Callable[[ChildReaper], object] | None = None,
) -> None:
    """Start the program, if one is given. When `watch` returns, end the processes left behind.

    Args:
        control: The socket to acp-tui.
        program: The program's path, the name by which it is called, and its arguments.
        environment: The program's environment; None for that of this process.
        on_terminal: Receive the environment from `control`, and wait for the program's descendants.
        on_start: Called once the program runs.
    """
    wakeup, wakeup_writer = os.pipe()
    os.set_blocking(wakeup_writer, False)
    signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # end only when acp-tui does
    targets, children = Targets(), ChildReaper(control)
    if on_terminal:
        environment = receive_environment(control)
        if environment is None:
            return
    if program:
        become_subreaper()
        child = start(program[0], program[1:], environment)
        if isinstance(child, OSError):
            children.report(f"failed {child.errno}")
            return
        children.program = child
        targets.groups.add(child)
        children.report(f"started {child}")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # they belong to the program; keeping them open would delay their end of file
        os.dup2(null, stream)
    os.chdir("/")  # do not keep a folder in use
    if on_start is not None:
        on_start(children)
    watch(control, targets, children, wakeup, wait_for_descendants=on_terminal)
    if targets.groups or not (children.ended and children.childless):
        end_all(targets, children)
    if targets.folders:
        import shutil  # most runs have nothing to delete

        for folder in targets.folders:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv)
