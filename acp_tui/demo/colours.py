"""`python -m acp_tui.demo.colours`: a command for the demo to run. It only prints, in colour."""

from __future__ import annotations

import argparse
import sys
import time

COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


def main() -> int:
    """A progress bar and a palette; or a failure, when one is wanted."""
    parser = argparse.ArgumentParser(prog="python -m acp_tui.demo.colours", description=__doc__)
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="rest between the steps")
    parser.add_argument("--fail", action="store_true", help="write to stderr and end with exit code 3")
    args = parser.parse_args()
    if args.fail:
        print(_painted("yellow", "This command is about to fail."), flush=True)
        print(_painted("red", "It failed, as it was meant to."), file=sys.stderr)
        return 3
    for step in range(1, 11):
        bar = "#" * step + "." * (10 - step)
        print(f"\r{_painted('cyan', bar)} {step * 10}%", end="", flush=True)
        time.sleep(args.pause)
    print()
    for name in COLOURS:
        print(_painted(name, name), _painted(name, f"bold {name}", bold=True))
    return 0


def _painted(colour: str, text: str, *, bold: bool = False) -> str:
    return f"\x1b[{'1;' if bold else ''}{COLOURS[colour]}m{text}\x1b[0m"


if __name__ == "__main__":
    sys.exit(main())
