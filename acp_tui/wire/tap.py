"""The program behind `acp-tui tap`: forwards bytes between an editor and an agent, and records what passes.

Run as a script, with the standard library only, in place of the process that the editor has started:
`python -I -S tap.py OPTIONS`. OPTIONS is an inherited file with the JSON of `TapOptions`.

This process only forwards: a thread for each of stdin, stdout and stderr writes what it has read, as it comes
and whatever it is, and then reads again. The pipes thus slow each side down as they would without the tap.
A second process, which is forked from this one, starts the agent as the watcher of `processes.watcher` does,
and ends the agent if this process is killed. It also writes the log, because reading JSON and removing
secrets would hold the interpreter's lock for milliseconds. What it has not yet recorded waits in a backlog of
limited size; nothing waits for the log.

The exit code is that of the agent. If a signal has ended the agent, the same signal ends this process.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

BLOCK_BYTES = 1 << 16
MAX_BACKLOG_BYTES = 16_000_000
"""The limit of what waits to be recorded. Beyond it, blocks are forwarded, but not recorded."""
BLOCK_OVERHEAD_BYTES = 250
"""About what a block takes in addition to its bytes."""
HEADER = struct.Struct("<BdQ")
"""What precedes each block on its way to the log: the stream, the time, and the number of bytes."""
STDIN, STDOUT, STDERR, GAP = 0, 1, 2, 8
"""The streams. `GAP` is added to the one of which as many bytes as the header says were not recorded."""

EXIT_GRACE_SECONDS = 1.5
"""Seconds that the agent may take to exit after the editor is gone. Then it gets SIGTERM."""
LAST_OUTPUT_SECONDS = 3.0
"""Seconds to wait for the last output of an ended agent, whose pipes another process may keep open."""
LOG_SECONDS = 3.0
"""Seconds to wait for the rest of the log before this process ends. The log is then completed alone."""
NOT_FOUND, LOST = 127, 137
"""The exit codes if the agent cannot be started, and if the process that watches the agent was killed."""
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
"""The signals that the agent gets as well."""
TapOptions = dict[str, Any]
"""What the command line says.

    program       the path of the agent's program
    command       the name by which it is called, and its arguments
    env           variables to set for the agent
    agent, title  the agent's short name and title
    ad_hoc        whether the agent was given as a command
    log           the file to record to; None for a session folder below `data`
    max_bytes     the size at which recording ends
    sensitive     the user's patterns of files whose content is not recorded
    path          where Python finds acp-tui
"""


class Backlog:
    """Blocks that wait to be recorded, up to a limit. Putting a block into it never waits."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._blocks: deque[bytes] = deque()
        self._size = 0
        self._is_full = False
        self._missing = [0, 0, 0]  # bytes of each stream that were not recorded and not yet reported
        self._changed = threading.Condition()
        self._closed = False
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()

    def put(self, stream: int, data: bytes) -> None:
        """Add a block of a stream, or count its bytes as missing."""
        with self._changed:
            if self._is_full:
                self._missing[stream] += len(data)
                return
            if missing := self._missing[stream]:
                self._missing[stream] = 0
                self._blocks.append(HEADER.pack(stream + GAP, time.time(), missing))
            self._blocks.append(HEADER.pack(stream, time.time(), len(data)) + data)
            self._size += len(data) + BLOCK_OVERHEAD_BYTES
            # It stays full until there is much room again, so that few large gaps arise, not many small ones.
            self._is_full = self._size > MAX_BACKLOG_BYTES
            self._changed.notify()

    def close(self) -> None:
        """End the thread when everything is written."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _write(self) -> None:
        with contextlib.suppress(OSError):  # the other process was killed
            while (block := self._next()) is not None:
                view = memoryview(block)
                while view:
                    view = view[os.write(self._descriptor, view) :]
                with self._changed:
                    self._size -= len(block) - HEADER.size + BLOCK_OVERHEAD_BYTES
                    self._is_full = self._is_full and self._size > MAX_BACKLOG_BYTES // 2
        os.close(self._descriptor)

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._blocks and not self._closed:
                self._changed.wait()
            if self._blocks:
                return self._blocks.popleft()
            for stream, missing in enumerate(self._missing):
                if missing:
                    self._missing[stream] = 0
                    return HEADER.pack(stream + GAP, time.time(), missing)
            return None


def read_blocks(descriptor: int) -> Iterator[tuple[int, float, bytes, int]]:
    """Yield what `Backlog` writes: stream, time, bytes, and how many bytes are missing before them.

    A block without bytes is the end of its stream.
    """
    with open(descriptor, "rb") as file:
        while header := file.read(HEADER.size):
            stream, at, size = HEADER.unpack(header)
            if stream >= GAP:
                yield stream - GAP, at, b"", size
            else:
                yield stream, at, file.read(size), 0


class Pump:
    """A thread that forwards one stream until either side closes it."""

    def __init__(self, stream: int, source: int, target: int, backlog: Backlog, ended: int) -> None:
        self._stream, self._source, self._target = stream, source, target
        self._backlog = backlog
        self._ended = ended  # gets a zero at the end
        self.is_writing = False
        self.has_ended = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # one of the sides is gone
            while data := _read(self._source):
                self._backlog.put(self._stream, data)
                self.is_writing = True
                _write_all(self._target, data)
                self.is_writing = False
            self._backlog.put(self._stream, b"")
        # Each side learns what it would learn without the tap: the end of the input, or a broken pipe.
        _release(self._source)
        if self._target != STDERR:  # to which this process writes itself
            _release(self._target)
        self.is_writing, self.has_ended = False, True
        os.write(self._ended, b"\0")


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, BLOCK_BYTES)
        except BlockingIOError:  # the editor's end of a socket or terminal can be set so
            select.select([descriptor], [], [])


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


def _release(descriptor: int) -> None:
    """Close a descriptor. Those of the standard streams stay in use, so that no other file gets them."""
    if descriptor > STDERR:
        os.close(descriptor)
        return
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


class Tap:
    """Forwards until the agent or the editor has ended."""

    def __init__(self, control: socket.socket, backlog: Backlog, streams: tuple[int, int, int]) -> None:
        """`streams` are our ends of the agent's stdin, stdout and stderr."""
        self._control = control
        self._backlog = backlog
        self._wakeup, wakeup_writer = os.pipe()
        os.set_blocking(wakeup_writer, False)
        self._pumps = [
            Pump(STDIN, STDIN, streams[0], backlog, wakeup_writer),
            Pump(STDOUT, streams[1], STDOUT, backlog, wakeup_writer),
            Pump(STDERR, streams[2], STDERR, backlog, wakeup_writer),
        ]
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        self._poll.register(STDOUT, 0)  # reports when nobody reads it any more
        self._reader_gone = False
        self._editor_gone_at: float | None = None
        self._reports = b""
        self._pid = 0
        self._watcher_gone = False
        self.returncode: int | None = None
        self.failure = 0
        """The number of the error if the agent could not be started."""
        self._said = False
        signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
        for name in SIGNALS:
            number = getattr(signal, name)
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda *_: None)  # passed on by `_pass_on`

    def run(self) -> None:
        """Forward until the agent has ended and its output has been passed on."""
        for pump in self._pumps:
            pump.thread.start()
        while self.returncode is None and not self.failure:
            self._step(self._editor_timeout())
        ended = time.monotonic()
        outputs = self._pumps[1:]
        while not all(pump.has_ended for pump in outputs):
            if self._step(0.2):
                return  # nobody is left who could get them
            # Only when the watcher is gone, no process of the agent is left.
            stuck = not any(pump.is_writing for pump in outputs)
            if stuck and self._watcher_gone and time.monotonic() - ended > LAST_OUTPUT_SECONDS:
                return

    def finish_log(self) -> None:
        """Wait until the log is complete, but not for long."""
        self._backlog.close()
        deadline = time.monotonic() + LOG_SECONDS
        while not self._watcher_gone and (left := deadline - time.monotonic()) > 0:
            self._step(left)

    def _editor_timeout(self) -> float | None:
        """End the agent if the editor has been gone for long enough. Return the seconds left."""
        if not self._reader_gone or not self._pumps[0].has_ended:
            return None
        now = time.monotonic()
        self._editor_gone_at = self._editor_gone_at or now
        left = self._editor_gone_at + EXIT_GRACE_SECONDS - now
        if left > 0:
            return left
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        return None

    def _step(self, timeout: float | None) -> bytes:
        """Wait for something to happen. Return the numbers of the signals that have arrived."""
        arrived = b""
        for descriptor, event in self._poll.poll(None if timeout is None else timeout * 1000):
            if descriptor == STDOUT:
                self._poll.unregister(STDOUT)
                self._reader_gone = bool(event & (select.POLLERR | select.POLLHUP))
            elif descriptor == self._wakeup:
                arrived = os.read(self._wakeup, 4096).replace(b"\0", b"")
                self._pass_on(arrived)
            else:
                self._read_reports()
        return arrived

    def _pass_on(self, numbers: bytes) -> None:
        for number in numbers:
            if self._pid and self.returncode is None:
                with contextlib.suppress(OSError):
                    os.kill(self._pid, number)

    def _read_reports(self) -> None:
        """Handle what the other process reports."""
        try:
            block = self._control.recv(4096)
        except ConnectionError:
            block = b""
        if not block:
            self._poll.unregister(self._control)
            self._watcher_gone = True
            if self.returncode is None and not self.failure:
                self.returncode = LOST
                if self._pid:
                    with contextlib.suppress(OSError):
                        os.killpg(self._pid, signal.SIGKILL)
        *lines, self._reports = (self._reports + block).split(b"\n")
        for line in lines:
            word, _, value = line.decode().partition(" ")
            if word == "started":
                self._pid = int(value)
            elif word == "failed":
                self.failure = int(value)
            elif word in ("exit", "signal"):
                self.returncode = int(value) if word == "exit" else -int(value)
            elif word == "notice" and not self._said:
                self._said = True
                say(value)


def say(sentence: str) -> None:
    """Write a line to stderr, if somebody reads it."""
    with contextlib.suppress(OSError):
        os.write(STDERR, f"acp-tui tap: {sentence}\n".encode())


def initial_environment() -> dict[bytes, bytes]:
    """Return the environment with which this process was started.

    If LANG is C, Python adds LC_CTYPE to its own environment.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)


def main(argv: list[str]) -> int:
    """Run the tap, and return the exit code."""
    with open(int(argv[1]), encoding="utf-8") as file:
        options: TapOptions = json.load(file)
    stdin, stdout, stderr, blocks = os.pipe(), os.pipe(), os.pipe(), os.pipe()
    ours, theirs = socket.socketpair()
    started = time.time()
    gc.freeze()  # shares the memory of what exists with the process that is forked
    if os.fork() == 0:
        for descriptor in (stdin[1], stdout[0], stderr[0], blocks[1]):
            os.close(descriptor)
        ours.close()
        for stream, descriptor in enumerate((stdin[0], stdout[1], stderr[1])):
            os.dup2(descriptor, stream)
            os.close(descriptor)
        try:
            _watch(options, theirs.fileno(), blocks[0], started)
        finally:
            os._exit(0)
    for descriptor in (stdin[0], stdout[1], stderr[1], blocks[0]):
        os.close(descriptor)
    theirs.close()
    tap = Tap(ours, Backlog(blocks[1]), (stdin[1], stdout[0], stderr[0]))
    tap.run()
    tap.finish_log()
    if tap.failure:
        say(f"{options['program']} cannot be started: {os.strerror(tap.failure)}.")
        return NOT_FOUND
    assert tap.returncode is not None
    if tap.returncode < 0:
        _end_by_signal(-tap.returncode)
        return 128 - tap.returncode
    return tap.returncode


def _watch(options: TapOptions, control: int, blocks: int, started: float) -> None:
    """Be the other process: start and watch the agent, and write the log in a thread."""
    os.setsid()
    sys.path[:] = options["path"]
    from acp_tui.processes.watcher import ChildReaper, supervise

    threads: list[threading.Thread] = []

    def start_log(children: ChildReaper) -> None:
        def run() -> None:
            from acp_tui.wire.tap_log import Start, record_blocks

            record_blocks(
                read_blocks(blocks),
                options,
                Start(started, cwd, children.program or 0),
                returncode=lambda: children.returncode,
                notify=lambda sentence: children.report(f"notice {sentence}"),
            )

        threads.append(threading.Thread(target=run, daemon=True))
        threads[0].start()

    cwd = os.getcwd()  # noqa: PTH109  # pathlib is slow to import
    environment = initial_environment() | {
        os.fsencode(name): os.fsencode(value) for name, value in options["env"].items()
    }
    supervise(control, [options["program"], *options["command"]], environment, on_start=start_log)
    for thread in threads:
        thread.join()


def _end_by_signal(number: int) -> None:
    """End this process as the agent was ended."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core dump would be one of Python
    with contextlib.suppress(OSError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    code = main(sys.argv)
    os._exit(code)  # without waiting for the thread that reads stdin
