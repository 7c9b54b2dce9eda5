"""Measures terminal clients with the same loads and prints a Markdown table: `make bench-compare`.

Always measures acp-tui and, if the environment variable TOAD names its executable, Toad. The runs of the
clients alternate, so that all of them see the same machine. The table has the median of the runs.

    make bench-compare                               all loads, three runs each: some minutes
    make bench-compare ARGS='--only tool --runs 1'   the loads with "tool" in their names, once

The table of docs/speed.md was printed by this program.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
FLOOD_AGENT = f"{shlex.quote(sys.executable)} {REPOSITORY / 'tests/fake_agents/flood_agent.py'}"
TIMEOUT_SECONDS = "300"


@dataclass(frozen=True)
class Client:
    """A program to measure."""

    name: str
    command: tuple[str, ...]
    ready: str  # a pattern that is visible once a prompt can be typed


@dataclass(frozen=True)
class Load:
    """What the agent sends in a turn, and what is measured meanwhile."""

    name: str
    prompt: str
    options: tuple[str, ...] = ()  # of `drive`
    measures: tuple[str, ...] = ("turn", "cpu_turn", "pty_kb_turn", "stall_ms", "rss_peak_mb")


TYPING = ("echo_p50_ms", "echo_p95_ms", "echo_lost", "cpu_turn", "pty_kb_turn")
LOADS = (
    Load("start", "", measures=("first_paint", "ready", "rss_ready_mb")),
    Load("500 chunks of Markdown", "flood 500 40 text"),
    Load("10,000 chunks of Markdown", "flood 10000 40 text"),
    Load("2,000 chunks of code", "flood 2000 40 code"),
    Load("500 thoughts", "thoughts 500 40"),
    Load("50 tool calls with diffs", "tools 50"),
    Load("200 tool calls with diffs", "tools 200"),
    Load("500 updates of a plan", "plan 500"),
    Load("a command with 10,000 lines", "terminal 10000"),
    Load("a diff of 2,000 lines", "bigdiff 2000"),
    Load("typing, 25 chunks a second", "flood 400 20 text 25", ("--echo",), TYPING),
    Load("typing, 100 chunks a second", "flood 500 40 text 100", ("--echo",), TYPING),
    Load("typing, 10,000 chunks at once", "flood 10000 40 text", ("--echo",), TYPING),
    Load("idle", "ask hello", ("--idle", "8"), ("idle_cpu_pct",)),
)
MEASURES = {
    "first_paint": "first character, s",
    "ready": "ready for a prompt, s",
    "rss_ready_mb": "memory, MB",
    "turn": "time of the turn, s",
    "cpu_turn": "CPU, s",
    "pty_kb_turn": "sent to the terminal, kB",
    "stall_ms": "longest pause, ms",
    "rss_peak_mb": "peak memory, MB",
    "echo_p50_ms": "key until shown, median, ms",
    "echo_p95_ms": "key until shown, 95th percentile, ms",
    "echo_lost": "keys not shown",
    "idle_cpu_pct": "CPU of one core, %",
}

Medians = dict[tuple[str, str], dict[str, float | None]]
"""For a load and a client, the median of each measure; nothing if a run failed."""


def clients() -> list[Client]:
    """Return acp-tui and, if TOAD names it, Toad."""
    program = str(Path(sys.executable).with_name("acp-tui"))
    found = [Client("acp-tui", (program, "--command", FLOOD_AGENT, "--policy", "yolo"), "Message ")]
    if toad := os.environ.get("TOAD"):
        command = (*shlex.split(toad), "acp", FLOOD_AGENT, ".")
        found.append(Client("Toad", command, os.environ.get("TOAD_READY", "❯")))
    return found


def measure(client: Client, load: Load, folder: Path) -> dict[str, Any] | None:
    """Run a load once. Return what `drive` has measured; None if the run failed."""
    drive = [sys.executable, "-m", "tests.benchmarks.drive", "--timeout", TIMEOUT_SECONDS]
    command = [*drive, "--ready", client.ready, "--prompt", load.prompt, "--cwd", str(folder)]
    done = subprocess.run(
        [*command, *load.options, "--", *client.command], cwd=REPOSITORY, capture_output=True, text=True
    )
    result: dict[str, Any] = (
        json.loads(done.stdout.splitlines()[0]) if done.stdout else {"failed": done.stderr}
    )
    if "failed" in result:
        print(f"{client.name}, {load.name}: {result['failed']}\n{done.stderr[-1000:]}", file=sys.stderr)
        return None
    return result


def medians(results: list[dict[str, Any]], measures: tuple[str, ...]) -> dict[str, float | None]:
    return {
        name: statistics.median(values) if (values := [one[name] for one in results if name in one]) else None
        for name in measures
    }


def table(found: Medians, names: list[str]) -> str:
    """Return a Markdown table with a row for each load and measure, and a column for each client."""
    lines = [f"| load | measure | {' | '.join(names)} |", f"| --- | --- |{' ---: |' * len(names)}"]
    for load in LOADS:
        rows = [found.get((load.name, name), {}) for name in names]
        if not any(rows):
            continue
        for number, key in enumerate(load.measures):
            cells = " | ".join(_cell(row.get(key), key) for row in rows)
            lines.append(f"| {load.name if number == 0 else ''} | {MEASURES[key]} | {cells} |")
    return "\n".join(lines)


def _cell(value: float | None, key: str) -> str:
    if value is None:
        return "–"
    is_seconds = key in ("first_paint", "ready", "turn", "cpu_turn", "idle_cpu_pct")
    return f"{value:.2f}" if is_seconds else f"{value:,.0f}"


def machine() -> str:
    """Return the date, and what the figures depend on."""
    release = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    system = re.sub(r" GNU/Linux| \(.*\)", "", release)
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {system}, {python}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only the loads with this text in their names"
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each load (default: 3)")
    options = parser.parse_args()
    measured = clients()
    found: Medians = {}
    with tempfile.TemporaryDirectory(prefix="bench-compare-") as folder:
        for load in LOADS:
            if options.only not in load.name:
                continue
            results: dict[str, list[dict[str, Any]]] = {client.name: [] for client in measured}
            for run in range(options.runs):
                for client in measured:
                    print(f"{load.name}, run {run + 1}: {client.name} …", file=sys.stderr, flush=True)
                    if (result := measure(client, load, Path(folder))) is not None:
                        results[client.name].append(result)
            found |= {(load.name, name): medians(runs, load.measures) for name, runs in results.items()}
    print(f"Measured on {machine()}; 120x40 characters, median of {options.runs}:\n")
    print(table(found, [client.name for client in measured]))


if __name__ == "__main__":
    main()
