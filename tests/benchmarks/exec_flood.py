"""How much `exec` costs for each chunk that an agent streams: `make bench`.

For floods of several sizes it prints the CPU seconds of acp-tui itself (not of the agent) from
`initialize` to the end, divided by those of a script that only decodes the same lines; the same for the
whole run, with the start of both; and how much the memory grew after `initialize`. CPU seconds bear a busy
machine; they are the least of some runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
FLOOD_AGENT = REPOSITORY / "tests" / "fake_agents" / "flood_agent.py"
SIZES = (20_000, 50_000, 100_000)
CHARACTERS = 40
RUNS = 3
MOST_RATIO, MOST_MEGABYTES = 8.0, 60.0

MEASURED_EXEC = """
import json, resource, sys

from acp_tui.cli import main
from acp_tui.controller import Conversation

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

def megabytes():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:  # not Linux: the most so far has to do
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

start, close = Conversation.start, Conversation.close
told = {}

async def started(self):
    await start(self)
    told["ready"] = [cpu(), megabytes()]

async def closing(self):
    told["end"] = [cpu(), megabytes()]
    await close(self)

Conversation.start, Conversation.close = started, closing
file, *words = sys.argv[1:]
code = main(words)
told["all"] = cpu()
json.dump(told, open(file, "w"))
sys.exit(code)
"""
ONLY_DECODE = """
import json, resource, sys

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

before = cpu()
for line in sys.stdin.buffer:
    json.loads(line)
print(json.dumps([cpu() - before, cpu()]))
"""


def main() -> int:
    """Measure and print; 1 when a goal is missed."""
    titles = {"chunks": 8, "turn": 7, "decoding": 9, "ratio": 6, "whole run": 10, "µs/chunk": 9, "memory": 9}
    print(" ".join(title.rjust(width) for title, width in titles.items()))
    missed = False
    for count in SIZES:
        runs = [_measure(count) for _ in range(RUNS)]
        least = {name: min(run[name] for run in runs) for name in runs[0]}
        grown = max(run["grown"] for run in runs)
        ratio, whole = least["turn"] / least["decoding"], least["all"] / least["all_decoding"]
        missed |= ratio > MOST_RATIO or grown > MOST_MEGABYTES
        print(
            f"{count:>8} {least['turn']:>6.2f}s {least['decoding']:>8.2f}s {ratio:>6.1f} {whole:>10.1f}"
            f" {least['turn'] / count * 1e6:>9.1f} {grown:>6.1f} MB"
        )
    print(f"goals: a ratio of at most {MOST_RATIO:g}, at most {MOST_MEGABYTES:g} MB")
    return int(missed)


def _measure(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="acp-tui-bench-") as folder:
        told = Path(folder, "told.json")
        command = f"{sys.executable} {FLOOD_AGENT}"
        words = ["exec", "--command", command, f"flood {count} {CHARACTERS}", "--cwd", folder]
        environment = {**os.environ, "ACP_TUI_HOME": str(Path(folder, "home"))}
        subprocess.run(
            [sys.executable, "-c", MEASURED_EXEC, str(told), *words],
            stdout=subprocess.DEVNULL,
            env=environment,
            check=True,
        )
        [log] = Path(folder, "home").glob("data/sessions/*/wire.jsonl")
        stream = "".join(_received(log)).encode()
        decoded = subprocess.run(
            [sys.executable, "-c", ONLY_DECODE], input=stream, capture_output=True, check=True
        )
        measured = json.loads(told.read_text())
    (ready_cpu, ready_memory), (end_cpu, end_memory) = measured["ready"], measured["end"]
    return {
        "turn": end_cpu - ready_cpu,
        "all": measured["all"],
        "decoding": json.loads(decoded.stdout)[0],
        "all_decoding": json.loads(decoded.stdout)[1],
        "grown": end_memory - ready_memory,
    }


def _received(log: Path) -> Iterator[str]:
    """The lines as the agent wrote them."""
    with open(log, encoding="utf-8") as file:
        for line in file:
            record: dict[str, Any] = json.loads(line)
            if record["dir"] == "received":
                yield json.dumps(record["frame"], separators=(",", ":")) + "\n"


if __name__ == "__main__":
    sys.exit(main())
