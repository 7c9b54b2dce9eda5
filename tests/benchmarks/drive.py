"""Runs a terminal client on a pseudo terminal, types a prompt, and measures the client.

    python -m tests.benchmarks.drive --ready 'Message ' --prompt 'flood 2000 40 text' -- CLIENT ARGS...

Needs Linux. Three processes keep the figures honest:

- The *pump* owns the terminal. It notes the time of every read, types, and samples /proc. It does nothing
  else, so that its times are exact to about a millisecond.
- The *model*, this process at a lower priority, applies what was read to a screen and finds when a pattern
  became visible. It may lag behind; the times do not.
- The CPU time is that of the client alone: of its first process, and separately of the rest of its tree,
  without the processes whose command line matches `--agent`, the load generator.

Prints a JSON object for each run, and with `--repeat` another one with the medians:

    first_paint      seconds from the start to the first visible character
    ready            seconds from the start until `--ready` is visible
    turn             seconds from the last key of the prompt until the sentinel is visible
    cpu_turn         CPU seconds (user + system) of the client's first process in that time
    cpu_settle       the same in the `--settle` seconds after the sentinel
    cpu_children     CPU seconds of the client's other processes during the whole run
    idle_cpu_pct     CPU percent of one core during `--idle` seconds at the end
    rss_ready_mb, rss_peak_mb   resident memory of the client's first process (peak: VmHWM)
    pty_kb_turn      kilobytes that the client sent to the terminal in the turn
    pty_kb_total     the same for the whole run
    echo_*_ms        milliseconds from a key until its character is on the screen, during the turn (`--echo`)
    echo_lost        the number of keys typed during the turn that were never shown
    stall_ms         the longest time in the turn without a byte to the terminal
    other_cores      the cores kept busy in the turn by everything but the client, also by the agent and this
                     program: if it is near the number of cores, measure again
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import Any

import pyte

# Every key of the echo test is a character of its own, which no load prints, one cell wide.
ECHO = [
    chr(code)
    for first, last in (
        (0x100, 0x130),
        (0x134, 0x148),
        (0x14A, 0x17F),
        (0x391, 0x3A1),
        (0x3B1, 0x3C1),
        (0x410, 0x44F),
        (0x561, 0x586),
        (0x10D0, 0x10F0),
        (0x180, 0x1BF),
        (0x1E00, 0x1E99),
        (0x1401, 0x1676),
    )
    for code in range(first, last + 1)
]
TICK = os.sysconf("SC_CLK_TCK")


# ------------------------------------------------------------------------- /proc


def cpu(pid: int) -> float | None:
    """Return the CPU seconds of one process, without its children; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int) -> tuple[float, float]:
    """Return the resident and the peak resident memory in MB."""
    now = peak = 0.0
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    now = int(line.split()[1]) / 1024
                elif line.startswith("VmHWM:"):
                    peak = int(line.split()[1]) / 1024
    except OSError:
        pass
    return now, peak


def busy() -> float:
    """Return the CPU seconds of the whole machine since boot, without idle time and waiting for I/O."""
    with open("/proc/stat", encoding="utf-8") as file:
        fields = [int(part) for part in file.readline().split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / TICK


def others(root: int, agent: re.Pattern[str]) -> list[int]:
    """Return the descendants of `root`, without the agent and what it started."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib takes time, and this runs during the measurement
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(name))
    found, queue = [], list(children.get(root, []))
    while queue:
        pid = queue.pop()
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if not agent.search(line):
            found.append(pid)
            queue.extend(children.get(pid, []))
    return found


# -------------------------------------------------------------------------- pump


def pump(root: int, master: int, down: int, up: int, agent: re.Pattern[str]) -> None:
    """Read and type until told to stop.

    Up, one header per record: kind (1 byte), time (double), length (uint32), payload.
    Kinds: o output, c sample (JSON), k key typed, w bytes written, x client gone.
    Down, lines of JSON: {"write": text, "gap": s} | {"type": [chars], "gap": s} | {"stop": 1}.
    """

    outgoing = bytearray()  # the model may lag; the pump must not wait for it

    def send(kind: bytes, payload: bytes, when: float | None = None) -> None:
        outgoing.extend(
            struct.pack("=cdI", kind, time.monotonic() if when is None else when, len(payload)) + payload
        )

    queue: list[tuple[float, bytes, bytes]] = []
    pending = b""
    tree: list[int] = []
    spent: dict[int, float] = {}
    next_sample = next_tree = 0.0
    os.set_blocking(master, False)
    os.set_blocking(up, False)
    while True:
        now = time.monotonic()
        if now >= next_tree:
            tree = others(root, agent)
            next_tree = now + 0.5
        if now >= next_sample:
            own = cpu(root)
            for pid in tree:
                if (used := cpu(pid)) is not None:
                    spent[pid] = used
            rss, peak = memory(root)
            if own is not None:
                sample = {"own": own, "rest": sum(spent.values()), "rss": rss, "peak": peak, "busy": busy()}
                send(b"c", json.dumps(sample).encode(), now)
            next_sample = now + 0.02
        while queue and queue[0][0] <= now:
            _, kind, data = queue.pop(0)
            stamp = time.monotonic()
            try:
                os.write(master, data)
            except BlockingIOError:
                queue.insert(0, (now + 0.01, kind, data))
                break
            except OSError:
                pass
            send(kind, data, stamp)
        wait = max(0.0, min([next_sample] + [item[0] for item in queue[:1]]) - time.monotonic())
        ready, able, _ = select.select([master, down], [up] if outgoing else [], [], wait)
        if able:
            with contextlib.suppress(BlockingIOError):
                del outgoing[: os.write(up, outgoing[: 1 << 18])]
        if master in ready:
            try:
                data = os.read(master, 65536)
            except BlockingIOError:
                data = b"-"
            except OSError:
                data = b""
            if not data:
                send(b"x", b"")
                os.set_blocking(up, True)
                while outgoing:
                    del outgoing[: os.write(up, outgoing)]
                return
            send(b"o", data)
        if down in ready:
            got = os.read(down, 65536)
            if not got:
                return
            pending += got
            while b"\n" in pending:
                line, pending = pending.split(b"\n", 1)
                order = json.loads(line)
                if "stop" in order:
                    queue.clear()
                    send(b"s", b"")
                elif "write" in order:
                    at = time.monotonic()
                    for text in order["write"]:
                        queue.append((at, b"w", text.encode()))
                        at += order["gap"]
                elif "type" in order:
                    at = time.monotonic() + order["gap"]
                    for text in order["type"]:
                        queue.append((at, b"k", text.encode()))
                        at += order["gap"]


# ------------------------------------------------------------------------- model


class Run:
    """One client, from its start to its end."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        columns, rows = (int(part) for part in options.size.split("x"))
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.rows: list[str] = [""] * rows
        self.clock = 0.0
        self.first_paint: float | None = None
        self.samples: list[tuple[float, dict[str, float]]] = []
        self.output: list[tuple[float, int]] = []
        self.typed: list[tuple[float, str]] = []
        self.written: list[float] = []
        self.shown: dict[str, float] = {}
        self.awaited: set[str] = set()
        self.gone = False
        self.buffer = bytearray()
        self.at = 0

        home = options.home or tempfile.mkdtemp(prefix="drive-home-")
        self.scrap = None if options.home else home
        env = {key: os.environ[key] for key in ("PATH", "LANG", "SHELL", "USER") if key in os.environ}
        env.update(
            HOME=home,
            TERM="xterm-256color",
            COLORTERM="truecolor",
            LC_ALL="C.UTF-8",
            COLUMNS=str(columns),
            LINES=str(rows),
        )
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            directory = Path(home) / name.lower()
            directory.mkdir(parents=True, exist_ok=True)
            env[f"XDG_{name}_HOME"] = str(directory)
        env.update(pair.split("=", 1) for pair in options.env)

        self.spawned = time.monotonic()
        self.root, master = pty.fork()
        if self.root == 0:
            os.chdir(options.cwd)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(options.command[0], options.command, env)
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        down_read, self.down = os.pipe()
        self.up, up_write = os.pipe()
        fcntl.fcntl(self.up, 1031, 1 << 20)  # F_SETPIPE_SZ
        self.pump = os.fork()
        if self.pump == 0:
            os.close(self.down)
            os.close(self.up)
            try:
                pump(self.root, master, down_read, up_write, re.compile(options.agent))
            finally:
                os._exit(0)
        for descriptor in (master, down_read, up_write):
            os.close(descriptor)
        os.nice(5)

    # ---- records

    def record(self, wait: float) -> bool:
        """Take one record from the pump. Return False if none came in time."""
        deadline = time.monotonic() + wait
        while True:
            if len(self.buffer) - self.at >= 13:
                kind, when, length = struct.unpack_from("=cdI", self.buffer, self.at)
                if len(self.buffer) - self.at >= 13 + length:
                    payload = bytes(self.buffer[self.at + 13 : self.at + 13 + length])
                    self.at += 13 + length
                    self.take(kind, when, payload)
                    return True
            if self.at > 1 << 16:
                del self.buffer[: self.at]
                self.at = 0
            left = deadline - time.monotonic()
            if self.gone or not select.select([self.up], [], [], max(0.0, left))[0]:
                return False
            data = os.read(self.up, 1 << 18)
            if not data:
                self.gone = True
                return False
            self.buffer += data

    def take(self, kind: bytes, when: float, payload: bytes) -> None:
        self.clock = when
        if kind == b"o":
            self.output.append((when, len(payload)))
            self.stream.feed(self.decoder.decode(payload))
            for row in self.screen.dirty:
                if row < len(self.rows):
                    self.refresh(row, when)
            self.screen.dirty.clear()
        elif kind == b"c":
            self.samples.append((when, json.loads(payload)))
        elif kind == b"k":
            self.typed.append((when, payload.decode()))
            self.awaited.add(payload.decode())
        elif kind == b"w":
            self.written.append(when)
        elif kind == b"x":
            self.gone = True

    def refresh(self, row: int, when: float) -> None:
        line = self.screen.buffer[row]
        text = "".join(line[column].data for column in range(self.screen.columns))
        self.rows[row] = text
        if self.first_paint is None and not text.isspace():
            self.first_paint = when
        if self.awaited:
            for char in self.awaited.intersection(text):
                self.shown[char] = when
                self.awaited.discard(char)

    def until(self, pattern: str, timeout: float, what: str) -> float:
        """Return the time at which the pattern became visible. Raises `TimeoutError`."""
        search = re.compile(pattern).search
        deadline = time.monotonic() + timeout
        while True:
            if search("\n".join(self.rows)):
                return self.clock
            if not self.record(max(0.0, deadline - time.monotonic())):
                raise TimeoutError(
                    f"{what}: {pattern!r} not seen" + (" (client exited)" if self.gone else "")
                )

    def drain(self, seconds: float) -> None:
        """Take records of so many seconds of the pump's clock."""
        end = self.clock + seconds
        while self.clock < end and self.record(seconds + 5):
            pass

    def order(self, **order: Any) -> None:
        os.write(self.down, json.dumps(order).encode() + b"\n")

    # ---- figures

    def sample(self, when: float, key: str) -> float:
        """Return the value of the samples at a time, interpolated."""
        before = None
        for moment, values in self.samples:
            if moment >= when:
                if before is None or moment == before[0]:
                    return values[key]
                part = (when - before[0]) / (moment - before[0])
                return before[1] + part * (values[key] - before[1])
            before = (moment, values[key])
        return before[1] if before else 0.0

    def measure(self) -> dict[str, Any]:
        options = self.options
        result: dict[str, Any] = {"prompt": options.prompt}
        ready = self.until(options.ready, options.timeout, "ready")
        assert self.first_paint is not None
        result["first_paint"] = self.first_paint - self.spawned
        result["ready"] = ready - self.spawned
        result["cpu_ready"] = self.sample(ready, "own")
        self.drain(options.pause)
        result["rss_ready_mb"] = self.samples[-1][1]["rss"]
        if not options.prompt:
            self.order(stop=1)
            self.idle(result)
            return result
        for number, prompt in enumerate([*options.before, options.prompt]):
            last = number == len(options.before)
            self.written.clear()
            self.order(write=list(prompt), gap=0.01)
            while len(self.written) < len(prompt):
                if not self.record(10):
                    raise TimeoutError("prompt not typed")
            self.drain(0.4)
            keys = re.split(r"(?<=.)(?=\x1b)", codecs.decode(options.submit, "unicode_escape"))
            self.written.clear()
            self.order(write=keys, gap=0.05)
            while len(self.written) < len(keys):
                self.record(10)
            submit = self.written[-1]
            if last and options.echo:
                self.order(type=ECHO, gap=options.echo)
            seen = self.until(
                options.sentinel.replace("{turn}", str(number + 1)), options.timeout, "sentinel"
            )
            if not last:
                self.drain(1.0)
        self.order(stop=1)
        result["turn"] = seen - submit
        self.drain(options.settle)
        while self.samples[-1][0] < seen + options.settle and self.record(2):
            pass
        result["cpu_turn"] = self.sample(seen, "own") - self.sample(submit, "own")
        all_busy = self.sample(seen, "busy") - self.sample(submit, "busy")
        result["other_cores"] = max(0.0, all_busy - result["cpu_turn"]) / max(0.001, seen - submit)
        result["cpu_settle"] = self.sample(seen + options.settle, "own") - self.sample(seen, "own")
        spans = [moment for moment, _ in self.output if submit <= moment <= seen]
        result["pty_kb_turn"] = sum(size for moment, size in self.output if submit <= moment <= seen) / 1024
        result["pty_kb_total"] = sum(size for _, size in self.output) / 1024
        result["stall_ms"] = 1000 * max(
            (b - a for a, b in zip([submit, *spans], [*spans, seen], strict=False)), default=0.0
        )
        if options.echo:
            during = [(when, char) for when, char in self.typed if when < seen]
            waits = sorted((self.shown[char] - when) * 1000 for when, char in during if char in self.shown)
            result["echo_keys"] = len(during)
            result["echo_lost"] = len(during) - len(waits)
            if waits:
                result["echo_p50_ms"] = waits[len(waits) // 2]
                result["echo_p95_ms"] = waits[min(len(waits) - 1, int(len(waits) * 0.95))]
                result["echo_max_ms"] = waits[-1]
        self.idle(result)
        result["cpu_children"] = self.samples[-1][1]["rest"]
        result["rss_peak_mb"] = self.samples[-1][1]["peak"]
        return result

    def idle(self, result: dict[str, Any]) -> None:
        """Measure the CPU percent of one core while nothing happens."""
        if self.options.idle:
            start = self.clock
            self.drain(self.options.idle)
            used = self.sample(self.clock, "own") - self.sample(start, "own")
            result["idle_cpu_pct"] = 100 * used / (self.clock - start)

    def close(self) -> None:
        """End the client with SIGTERM, then SIGKILL, and the pump."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(OSError):
                os.killpg(self.root, number)
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                if os.waitpid(self.root, os.WNOHANG)[0]:
                    number = signal.SIGKILL
                    break
                self.record(0.05)
            else:
                continue
            break
        for descriptor in (self.down, self.up):
            os.close(descriptor)
        os.waitpid(self.pump, 0)
        if self.scrap:
            shutil.rmtree(self.scrap, ignore_errors=True)

    def dump(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--ready", required=True, help="regexp that is on the screen once a prompt may be typed"
    )
    parser.add_argument(
        "--prompt", default="", help="what to send; without it only start-up and --idle are measured"
    )
    parser.add_argument(
        "--before", action="append", default=[], help="a prompt to run to its end first (repeatable)"
    )
    parser.add_argument(
        "--sentinel", default=r"END-OF-FLOOD-{turn}\b", help="regexp; {turn} is the turn's number"
    )
    parser.add_argument(
        "--submit", default=r"\r", help="keys that send the prompt, with escapes (default \\r)"
    )
    parser.add_argument("--agent", default="flood_agent", help="regexp: processes that are not the client's")
    parser.add_argument(
        "--echo",
        type=float,
        nargs="?",
        const=0.1,
        default=0.0,
        metavar="GAP",
        help="type one character every GAP seconds during the turn (default 0.1)",
    )
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--home", help="HOME for the client (default: a fresh one for each run)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between ready and typing")
    parser.add_argument("--settle", type=float, default=2.0)
    parser.add_argument("--idle", type=float, default=0.0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the last screen to stderr")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    results, status = [], 0
    for _ in range(options.repeat):
        run = Run(options)
        try:
            result = run.measure()
            results.append(result)
        except (TimeoutError, OSError) as error:
            result, status = {"prompt": options.prompt, "failed": str(error)}, 1
            if run.samples:
                result |= {"cpu": run.samples[-1][1]["own"], "rss_peak_mb": run.samples[-1][1]["peak"]}
            print(run.dump(), file=sys.stderr)
        else:
            if options.show:
                print(run.dump(), file=sys.stderr)
        finally:
            run.close()
        print(
            json.dumps(
                {key: round(value, 3) if isinstance(value, float) else value for key, value in result.items()}
            ),
            flush=True,
        )
    if options.repeat > 1 and results:
        keys = [key for key in results[0] if isinstance(results[0][key], (int, float))]
        medians = {
            key: round(statistics.median(one[key] for one in results if key in one), 3) for key in keys
        }
        print(json.dumps({"prompt": options.prompt, "median_of": len(results), **medians}))
    return status


if __name__ == "__main__":
    sys.exit(main())
