"""`acp-tui replay`: a recorded session again, on the screen or as text."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.screen_runner import add_theme_option, need_a_terminal, show
from acp_tui.config import early_settings
from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.export.as_text import transcript_lines
from acp_tui.protocol.fold import fold
from acp_tui.session.text import visible_line
from acp_tui.store.folders import WIRE, find_session, read_session
from acp_tui.store.recordings import read_recording

if TYPE_CHECKING:
    import argparse

    from acp_tui.session.record import Record
    from acp_tui.ui.app import AcpTui


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "log",
        metavar="LOG",
        help="a session's id or the beginning of one, its folder, or a file with a recording",
    )
    parser.add_argument(
        "--speed", type=speed, default=1.0, metavar="N", help="so many times as fast; max: at once"
    )
    add_theme_option(parser)
    parser.add_argument("--text", action="store_true", help="print the conversation as text instead")
    parser.add_argument("--thoughts", action="store_true", help="with --text: the agent's thoughts, too")


def run(args: argparse.Namespace) -> int:
    """Show the conversation."""
    if args.text:
        print_recording(recording_of(args.log), thoughts=args.thoughts)
        return 0
    need_a_terminal("`acp-tui replay --text` works without")
    return show(app_for(recording_of(args.log), args))


def app_for(path: Path, args: argparse.Namespace) -> AcpTui:
    """The app that plays a recording."""
    from acp_tui.controller.player import Player
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.conversation import gc_control
    from acp_tui.ui.screens.replay import ReplayScreen

    gc_control.pause()  # the records stay: looking at them again and again takes as long as reading them
    records, problems = read_records(path)
    gc_control.resume()
    known = read_session(path.parent)  # who it was held with, when it is one of ours
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
    """Nothing is infinitely slow, so 0 means what is meant by it elsewhere: no waiting."""
    times = float("inf") if text == "max" else float(text)
    if not times >= 0:
        raise ValueError
    return times or float("inf")


def print_recording(path: Path, *, thoughts: bool = False) -> None:
    """Print the conversation that this file records, and say when parts of it cannot be read."""
    print_safely()
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
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not damaged:
        return records, []
    if not records:
        raise UserError(f"{path} is no recording of a session.")
    more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    return records, [f"line {damaged[0]}{more} of {path} cannot be read: left out."]


def print_safely() -> None:
    """Let no character that the terminal's encoding lacks end the output."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # always a text file here


def recording_of(log: str) -> Path:
    """The file that a session's id, its folder or a path means."""
    path = Path(log).expanduser()
    if path.is_dir() and (path / WIRE).exists():
        return path / WIRE
    if path.exists() and not path.is_dir():
        return path
    if os.sep in log:
        reason = "holds no recorded session" if path.is_dir() else "does not exist"
        raise UserError(f"{path} {reason}.")
    return find_session(paths().data, log).wire
