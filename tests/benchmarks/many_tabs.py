"""How fast a key shows while agents stream in other tabs, and how much memory an idle tab takes.

    python -m tests.benchmarks.many_tabs [TABS] [CHUNKS_PER_SECOND]

Runs the program on a pseudo terminal. The tabs in the background stream 40 characters per chunk, by default
as fast as acp-tui reads them. Prints the time from a key to its character, and the memory of one more tab
without its agent, measured before they stream.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.fake_agents import flood_agent
from tests.support.terminal import REPOSITORY, Terminal

KEYS = [chr(code) for code in (*range(0x100, 0x130), *range(0x134, 0x148), *range(0x14A, 0x17F))]
"""Characters that nothing else on the screen contains."""
PROMPT = "flood 1000000 40 text {rate}"


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_tab(terminal: Terminal, number: int) -> None:
    """Open a tab with one more agent, and wait until it is ready."""
    terminal.type("\x14")  # Ctrl+T
    terminal.sees("type to filter", "flooding")
    terminal.type("flooding")
    terminal.sees("❯   flooding")
    terminal.type("\r")
    terminal.sees(f" {number} ", "idle", "Message")


def echo_milliseconds(terminal: Terminal, key: str) -> float:
    """Type a character, and return how long it takes to show."""
    began = time.perf_counter()
    terminal.type(key)
    terminal.until(lambda: key.encode() in terminal.raw[-100_000:], f"the key {key}")
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rate = sys.argv[2] if len(sys.argv) > 2 else "0"
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "config").mkdir()
        command = json.dumps([sys.executable, flood_agent.__file__])
        (Path(home) / "config" / "config.toml").write_text(f"[agents.flooding]\ncommand = {command}\n")
        with Terminal("flooding", cwd=REPOSITORY / "tests", ACP_TUI_HOME=home) as terminal:
            terminal.sees("idle", "Message")
            first = resident_megabytes(terminal.process.pid)
            sizes = []
            for number in range(2, count + 2):
                open_tab(terminal, number)
                sizes.append(resident_megabytes(terminal.process.pid))
            each = (sizes[-1] - sizes[0]) / max(1, count - 1)
            print(f"{first:.0f} MB with one tab, {each:.1f} MB per further tab", flush=True)
            quiet = [echo_milliseconds(terminal, key) for key in KEYS[:40]]
            terminal.type("\x15")  # Ctrl+U
            for _ in range(count):
                terminal.type("\x1b[1;3D")  # Alt+Left
                terminal.sees("idle")
                terminal.type(f"{PROMPT.format(rate=rate)}\r")
                terminal.sees("working")
            terminal.type("\x1b[1;3D")
            terminal.sees("idle")
            loud = [echo_milliseconds(terminal, key) for key in KEYS[40:]]
            for name, times in (("idle", quiet), (f"{count} streaming", loud)):
                p95 = statistics.quantiles(times, n=20)[-1]
                print(f"{name}: a key shows after {statistics.median(times):.0f} ms, p95 {p95:.0f} ms")
            terminal.process.kill()


if __name__ == "__main__":
    main()
