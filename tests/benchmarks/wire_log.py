"""How long a wire log of a million frames takes to open and to scroll, and how much memory.

    python -m tests.benchmarks.wire_log [--frames 1000000]

The goals are 1 s until the last rows of the log are known, with and without a saved index, and pages that
take a small part of a frame of the screen (33 ms). The log has about 300 bytes per frame.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from acp_tui.wire.frame_filter import parse_filter
from acp_tui.wire.frame_log import FrameLog

PAGE_ROWS = 50
PAGES = 1000
KINDS = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update")
FILTERS = ("kind:tool_call", "type:request dir:in", "word497")


def write_log(path: Path, frames: int) -> None:
    """Write a log with updates of two sessions, and a request with its answer every twenty frames."""
    chance = random.Random(1)
    words = [f"word{number}" for number in range(1000)]
    at = 1_763_633_999.25
    with path.open("w") as file:
        for number in range(frames):
            at += 0.001
            session = f"01a1f84c-{number % 2}"
            direction = "received"
            frame: dict[str, object] = {"jsonrpc": "2.0"}
            if number % 20 == 0:
                frame |= {
                    "id": number,
                    "method": "session/request_permission",
                    "params": {"sessionId": session},
                }
            elif number % 20 == 1:
                direction = "sent"
                frame |= {
                    "id": number - 1,
                    "result": {"outcome": {"outcome": "selected", "optionId": "once"}},
                }
            else:
                content = {"type": "text", "text": " ".join(chance.choices(words, k=18))}
                update = {"sessionUpdate": KINDS[number % len(KINDS)], "content": content}
                frame |= {"method": "session/update", "params": {"sessionId": session, "update": update}}
            text = json.dumps(frame, separators=(",", ":"))
            file.write(f'{{"t":{at!r},"dir":"{direction}","frame":{text}}}\n')


def measure(path: Path, *, with_filters: bool) -> None:
    """Open the log, scroll through it, and print the times."""
    start = perf_counter()
    log = FrameLog(path)
    shown = [log.row(number) for number in range(max(len(log) - PAGE_ROWS, 0), len(log))]
    print(f"  last {len(shown)} of {len(log):,} known rows: {perf_counter() - start:.3f} s")
    start, longest = perf_counter(), 0.0
    while not log.is_complete:
        step = perf_counter()
        log.update()
        longest = max(longest, perf_counter() - step)
    print(
        f"  all {len(log):,} rows: {perf_counter() - start:.2f} s, the longest step {longest * 1000:.0f} ms"
    )
    chance = random.Random(2)
    times = []
    for _ in range(PAGES):
        first = chance.randrange(len(log) - PAGE_ROWS)
        start = perf_counter()
        for number in range(first, first + PAGE_ROWS):
            log.row(number)
            log.summary(number, 100)
        times.append((perf_counter() - start) * 1000)
    times.sort()
    print(f"  a page anywhere: median {times[PAGES // 2]:.2f} ms, max {times[-1]:.1f} ms")
    for text in FILTERS if with_filters else ():
        start, longest, found = perf_counter(), 0.0, 0
        step = start
        for numbers in log.rows_matching(parse_filter(text)):
            found += len(numbers)
            longest, step = max(longest, perf_counter() - step), perf_counter()
        print(
            f"  {text}: {found:,} rows, {perf_counter() - start:.2f} s, longest step {longest * 1000:.0f} ms"
        )
    log.close()
    print(f"  memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.log is not None:
        measure(args.log, with_filters=args.log.with_name("wire.index").exists())
        return
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "wire.jsonl")
        write_log(log, args.frames)
        print(f"{args.frames:,} frames, {log.stat().st_size / 1e6:.0f} MB")
        for what in ("without a saved index", "with a saved index"):
            print(f"{what}:")
            sys.stdout.flush()
            again = [sys.executable, "-m", "tests.benchmarks.wire_log", "--log", str(log)]
            subprocess.run(again, check=True)  # a process of its own, so that its memory is known


if __name__ == "__main__":
    main()
