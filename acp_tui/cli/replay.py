"""`acp-tui replay`: read a recorded session again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.fold import fold
from acp_tui.store.folders import WIRE, open_folder
from acp_tui.store.recordings import read_recording
from acp_tui.transcript import transcript

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "log",
        metavar="LOG",
        help="a session's id or the beginning of one, its folder, or a file with a recording",
    )
    parser.add_argument("--text", action="store_true", required=True, help="print the conversation as text")
    parser.add_argument("--thoughts", action="store_true", help="with the agent's thoughts")


def run(args: argparse.Namespace) -> int:
    """Print the conversation."""
    print_recording(_find(args.log), thoughts=args.thoughts)
    return 0


def print_recording(path: Path, *, thoughts: bool = False) -> None:
    """Print the conversation that this file records, and say when parts of it cannot be read."""
    print_safely()
    damaged: list[int] = []
    try:
        session = fold(read_recording(path, damaged.append))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    for line in transcript(session, thoughts=thoughts):
        print(line)
    if damaged:
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        print(f"acp-tui: line {damaged[0]}{more} of {path} cannot be read: left out.", file=sys.stderr)


def print_safely() -> None:
    """Let no character that the terminal's encoding lacks end the output."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # always a text file here


def _find(log: str) -> Path:
    path = Path(log).expanduser()
    if path.is_dir() and (path / WIRE).exists():
        return path / WIRE
    if path.exists() and not path.is_dir():
        return path
    if os.sep in log:
        reason = "holds no recorded session" if path.is_dir() else "does not exist"
        raise UserError(f"{path} {reason}.")
    return open_folder(paths().data, log).wire
