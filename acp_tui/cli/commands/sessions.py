"""`acp-tui sessions`: lists, searches, shows and prunes recorded sessions."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.commands import run as run_command
from acp_tui.cli.options import add_action, add_json_option
from acp_tui.cli.recordings import print_recording
from acp_tui.cli.sessions import pruning, searching
from acp_tui.cli.sessions.listing import details, print_sessions
from acp_tui.config.paths import paths
from acp_tui.console.streams import replace_unencodable
from acp_tui.store.stored_sessions import find_session

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = add_action(actions, "list", "list sessions, most recent first (default if not on a terminal)")
    listing.add_argument("--here", action="store_true", help="only the sessions of the current folder")
    add_json_option(listing)
    searching.configure(add_action(actions, "search", "search everything said and done in all sessions"))
    show = add_action(actions, "show", "show a session's details and conversation")
    show.add_argument("id", metavar="ID", help="session id, or a unique prefix")
    show.add_argument("--thoughts", action="store_true", help="include the agent's thoughts")
    path = add_action(actions, "path", "print the path of a session's folder")
    path.add_argument("id", metavar="ID", help="session id, or a unique prefix")
    pruning.configure(add_action(actions, "prune", "remove the oldest sessions"))


def run(args: argparse.Namespace) -> int:
    """Run the chosen action and return the exit code."""
    replace_unencodable()
    match args.action:
        case "search":
            return searching.run(args)
        case "show":
            session = find_session(paths().data, args.id)
            print("\n".join([*details(session), ""]))
            if session.wire.exists():
                print_recording(session.wire, thoughts=args.thoughts)
        case "path":
            print(find_session(paths().data, args.id).path)
        case "prune":
            return pruning.run(args)
        case None if _has_terminal():
            return run_command.run_sessions(run_command.default_arguments())
        case _:
            folder = Path.cwd() if getattr(args, "here", False) else None
            print_sessions(folder, as_json=getattr(args, "json", False))
    return 0


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
