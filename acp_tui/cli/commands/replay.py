"""`acp-tui replay`: plays a recorded session on the screen, or prints it as text."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.screen_runner import add_theme_option, require_terminal, run_app
from acp_tui.config import early_settings
from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.export.as_text import transcript_lines
from acp_tui.protocol.fold import fold
from acp_tui.session.text import visible_line
from acp_tui.store.recordings import read_recording
from acp_tui.store.stored_sessions import WIRE, find_session, read_session

if TYPE_CHECKING:
    import argparse

    from acp_tui.session.record import Record
    from acp_tui.ui.app import AcpTui


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "log",
        metavar="LOG",
        help="session id (or a unique prefix), session folder, or recording file",
    )
    parser.add_argument(
        "--speed",
        type=speed,
        default=1.0,
        metavar="N",
        help="speed factor (default: 1); max skips all pauses",
    )
    add_theme_option(parser)
    parser.add_argument("--text", action="store_true", help="print the conversation as text and exit")
    parser.add_argument("--thoughts", action="store_true", help="with --text: include the agent's thoughts")


def run(args: argparse.Namespace) -> int:
    """Replay the conversation on the screen, or print it as text."""
    if args.text:
        print_recording(find_recording(args.log), thoughts=args.thoughts)
        return 0
    require_terminal("`acp-tui replay --text` works without a terminal")
    return run_app(app_for(find_recording(args.log), args))


def app_for(path: Path, args: argparse.Namespace) -> AcpTui:
    """Return the app that plays the recording."""
    from acp_tui.controller.player import Player
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.conversation import gc_control
    from acp_tui.ui.screens.replay import ReplayScreen

    gc_control.pause()  # all records stay in memory, and scanning them repeatedly doubles the loading time
    records, problems = read_records(path)
    gc_control.resume()
    known = read_session(path.parent)  # agent, title and folder, if acp-tui recorded it
    player = Player(
        records,
        title=visible_line(known.text("agent_title") or "Recorded session"),
        cwd=known.text("cwd") or "",
        speed=args.speed,
    )
    return AcpTui(
        lambda palette: ReplayScreen(player, palette, problems=problems),
        theme=args.theme,
        wishes=early_settings.read(Path.cwd()),
    )


def speed(text: str) -> float:
    """Parse a speed factor. "max" and 0 mean no pauses. The name appears in argparse's error message."""
    times = float("inf") if text == "max" else float(text)
    if not times >= 0:
        raise ValueError
    return times or float("inf")


def print_recording(path: Path, *, thoughts: bool = False) -> None:
    """Print the recorded conversation; report unreadable lines on stderr."""
    replace_unencodable()
    records, problems = read_records(path)
    for line in transcript_lines(fold(records), thoughts=thoughts):
        print(line)
    for problem in problems:
        print(f"acp-tui: {problem}", file=sys.stderr)


def read_records(path: Path) -> tuple[list[Record], list[str]]:
    """What is recorded there, and what of it cannot be read."""
    damaged: list[int] = []
    try:
        records = list(read_recording(path, damaged.append))
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
    if not damaged:
        return records, []
    if not records:
        raise UserError(f"{path} is not a session recording.")
    more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    return records, [f"line {damaged[0]}{more} of {path} could not be read and was skipped."]


def replace_unencodable() -> None:
    """Print "?" for characters that the output's encoding lacks instead of failing."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # always a text file here


def find_recording(log: str) -> Path:
    """Return the recording file for a session id, a session folder or a path."""
    path = Path(log).expanduser()
    if path.is_dir() and (path / WIRE).exists():
        return path / WIRE
    if path.exists() and not path.is_dir():
        return path
    if os.sep in log:
        reason = "contains no recorded session" if path.is_dir() else "does not exist"
        raise UserError(f"{path} {reason}.")
    return find_session(paths().data, log).wire
