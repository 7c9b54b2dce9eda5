"""`acp-tui sessions prune`: removes the oldest sessions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from acp_tui.config import settings as config
from acp_tui.config.paths import paths
from acp_tui.config.validators import InvalidValueError, size
from acp_tui.console.quantities import format_size, pluralize
from acp_tui.console.tables import truncate
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.prune import remove_sessions, select_sessions
from acp_tui.store.session_title import UnsentWork, session_title


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.add_argument(
        "--keep", type=_count, metavar="N", help="keep at most N sessions (log.keep_sessions)"
    )
    parser.add_argument(
        "--max-size", type=_size, metavar="SIZE", help='limit total size, e.g. "500 MB" (log.keep_bytes)'
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(args: argparse.Namespace) -> int:
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
        print(f"{visible_line(one.session.id)}  {format_size(one.size)}  {title}".rstrip())
    if not args.yes and not _confirm(len(chosen)):
        print("Nothing removed.")
        return 1
    removed = remove_sessions(paths().data, chosen)
    print(f"Removed {pluralize(len(removed), 'session')}, {format_size(sum(one.size for one in removed))}.")
    if kept := len(chosen) - len(removed):
        print(f"{pluralize(kept, 'session').capitalize()} kept: in use, or cannot be removed.")
    return 0


def _confirm(count: int) -> bool:
    if not sys.stdin.isatty():
        raise UserError(
            "Nothing removed: no terminal to ask for confirmation. Use --yes to remove without asking.",
            exit_code=2,
        )
    try:
        print(f"Remove {pluralize(count, 'session')} permanently? [y/N] ", end="", flush=True)
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of sessions, got {text!r}")
    return int(text)


def _size(text: str) -> int:
    try:
        return size(int(text) if text.isdecimal() else text)
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
