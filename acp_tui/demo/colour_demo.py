"""Prints a progress bar and colours: a harmless command for the demo to run."""

from __future__ import annotations

import argparse
import sys
import time

COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


def main() -> int:
    """Print in colour; with `--fail`, exit with code 3."""
    parser = argparse.ArgumentParser(prog="python -m acp_tui.demo.colour_demo", description=__doc__)
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="pause between steps")
    parser.add_argument("--fail", action="store_true", help="write to stderr and exit with code 3")
    args = parser.parse_args()
    if args.fail:
        print(_colour("yellow", "This command is about to fail."), flush=True)
        print(_colour("red", "It failed on purpose."), file=sys.stderr)
        return 3
    for step in range(1, 11):
        bar = "#" * step + "." * (10 - step)
        print(f"\r{_colour('cyan', bar)} {step * 10}%", end="", flush=True)
        time.sleep(args.pause)
    print()
    for name in COLOURS:
        print(_colour(name, name), _colour(name, f"bold {name}", bold=True))
    return 0


def _colour(colour: str, text: str, *, bold: bool = False) -> str:
    return f"\x1b[{'1;' if bold else ''}{COLOURS[colour]}m{text}\x1b[0m"


if __name__ == "__main__":
    sys.exit(main())
