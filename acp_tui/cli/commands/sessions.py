"""`acp-tui sessions`: lists, searches, shows and prunes recorded sessions."""

from __future__ import annotations

import argparse
from pathlib import Path

from acp_tui.cli import session_tables
from acp_tui.cli.commands import run as run_command
from acp_tui.cli.options import add_action, add_json_option, confirm
from acp_tui.cli.recordings import print_recording
from acp_tui.cli.screen_runner import has_usable_terminal
from acp_tui.cli.session_tables import details, print_sessions
from acp_tui.config import settings as config
from acp_tui.config.paths import paths
from acp_tui.config.validators import InvalidValueError, size
from acp_tui.console import format_size, pluralize, replace_unencodable, truncate
from acp_tui.session.safe_text import escape_line
from acp_tui.store.prune import remove_sessions, select_sessions
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import find_session


def add_prune_options(parser: argparse.ArgumentParser) -> None:
    about = "keep at most N sessions (log.keep_sessions)"
    parser.add_argument("--keep", type=_count, metavar="N", help=about)
    about = 'limit total size, e.g. "500 MB" (log.keep_bytes)'
    parser.add_argument("--max-size", type=_size, metavar="SIZE", help=about)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def prune(args: argparse.Namespace) -> int:
    """Remove the sessions beyond the limits, and return the exit code.

    Without `--yes`, the user is first asked for confirmation.
    """
    limits = config.load(Path.cwd()).log
    keep = limits.keep_sessions if args.keep is None else args.keep
    max_bytes = limits.keep_bytes if args.max_size is None else args.max_size
    selected = select_sessions(paths().data, paths().state, keep=keep, max_bytes=max_bytes)
    chosen = selected.to_remove
    if unfinished := len(selected.unfinished):
        reason = "a worktree, a draft, queued prompts or review comments"
        print(f"{pluralize(unfinished, 'session').capitalize()} kept because of {reason}.")
    if not chosen:
        print(f"Nothing to remove: the limits are {keep} sessions and {format_size(max_bytes)}.")
        return 0
    unsent = UnsentWork(paths().state)
    for one in chosen:
        title = truncate(session_title(one.session, unsent), 30)
        print(f"{escape_line(one.session.id)}  {format_size(one.size)}  {title}".rstrip())
    question = f"Remove {pluralize(len(chosen), 'session')} permanently?"
    if not args.yes and not confirm(question, done="removed", verb="remove"):
        print("Nothing removed.")
        return 1
    removed = remove_sessions(paths().data, chosen)
    print(f"Removed {pluralize(len(removed), 'session')}, {format_size(sum(one.size for one in removed))}.")
    if kept := len(chosen) - len(removed):
        print(f"{pluralize(kept, 'session').capitalize()} kept: in use, or cannot be removed.")
    return 0


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of sessions, got {text!r}")
    return int(text)


def _size(text: str) -> int:
    try:
        return size(int(text) if text.isdecimal() else text)
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = add_action(actions, "list", "list sessions, most recent first (default if not on a terminal)")
    listing.add_argument("--here", action="store_true", help="only the sessions of the current folder")
    add_json_option(listing)
    session_tables.configure(add_action(actions, "search", "search everything said and done in all sessions"))
    show = add_action(actions, "show", "show a session's details and conversation")
    path = add_action(actions, "path", "print the path of a session's folder")
    for action in (show, path):
        action.add_argument("id", metavar="ID", help="session id, or a unique prefix")
    show.add_argument("--thoughts", action="store_true", help="include the agent's thoughts")
    add_prune_options(add_action(actions, "prune", "remove the oldest sessions"))


def run(args: argparse.Namespace) -> int:
    replace_unencodable()
    match args.action:
        case "search":
            return session_tables.run(args)
        case "show":
            session = find_session(paths().data, args.id)
            print("\n".join([*details(session), ""]))
            if session.wire.exists():
                print_recording(session.wire, thoughts=args.thoughts)
        case "path":
            print(find_session(paths().data, args.id).path)
        case "prune":
            return prune(args)
        case None if has_usable_terminal():
            return run_command.run_sessions(run_command.default_arguments())
        case _:
            folder = Path.cwd() if getattr(args, "here", False) else None
            print_sessions(folder, as_json=getattr(args, "json", False))
    return 0
