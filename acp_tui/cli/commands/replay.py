"""`acp-tui replay`: plays a recorded session on the screen, or prints the session as text."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.recordings import RECORDING_HELP, find_recording, print_recording, read_records
from acp_tui.cli.screen_runner import add_theme_option, require_terminal, run_app
from acp_tui.config import early_settings
from acp_tui.session.safe_text import escape_line
from acp_tui.store.stored_sessions import read_session

if TYPE_CHECKING:
    from acp_tui.ui.app import AcpTui


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="SESSION", help=RECORDING_HELP)
    about = "speed factor (default: 1), or max to skip all pauses"
    parser.add_argument("--speed", type=speed, default=1.0, metavar="N", help=about)
    add_theme_option(parser)
    parser.add_argument("--text", action="store_true", help="print the conversation as text and exit")
    parser.add_argument("--thoughts", action="store_true", help="with --text: include the agent's thoughts")


def run(args: argparse.Namespace) -> int:
    """Replay the session on the screen, or print the session as text."""
    if args.text:
        print_recording(find_recording(args.log), thoughts=args.thoughts)
        return 0
    require_terminal("`acp-tui replay --text` works without a terminal")
    return run_app(app_for(find_recording(args.log), args))


def app_for(path: Path, args: argparse.Namespace) -> AcpTui:
    """Return the app that plays the recording."""
    from acp_tui.controller.player import Player
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.conversation.replay import ReplayScreen
    from acp_tui.ui.terminal import gc_control

    gc_control.pause()  # garbage collection would double the loading time, and all records stay in memory
    records, problems = read_records(path)
    gc_control.resume()
    stored = read_session(path.parent)  # agent and folder, if acp-tui made the recording
    player = Player(
        records,
        title=escape_line(stored.text("agent_title") or "Recorded session"),
        cwd=stored.text("cwd") or "",
        speed=args.speed,
    )
    return AcpTui(
        lambda: ReplayScreen(player, problems=problems, wire_log=path),
        theme=args.theme,
        settings=early_settings.read(Path.cwd()),
    )


def speed(text: str) -> float:
    """Parse a speed factor. "max" and 0 mean no pauses."""
    try:
        factor = float("inf") if text == "max" else float(text)
    except ValueError:
        factor = -1.0
    if not factor >= 0:
        raise argparse.ArgumentTypeError(f"expected a number or max, got {text!r}")
    return factor or float("inf")
