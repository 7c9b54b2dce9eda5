"""What every command that opens a screen shares: whatever ends it, it ends in order and says why."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

from acp_tui.cli.options import USAGE
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse

    from acp_tui.ui.app import AcpTui


GRACE = 8.0
"""Seconds to end in order after a signal."""


def add_theme_option(parser: argparse.ArgumentParser) -> None:
    """Which colours."""
    parser.add_argument(
        "--theme",
        metavar="NAME",
        help="the colours: dark, light, high-contrast, ansi, nord, gruvbox, or a theme of your own",
    )


def need_a_terminal(instead: str) -> None:
    """The screen cannot be drawn into a file, nor on a terminal that knows nothing."""
    if sys.platform == "win32":
        raise UserError("on Windows acp-tui runs inside WSL: install and start it there.", exit_code=USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(f"the screen needs a terminal for input and output; {instead}.", exit_code=USAGE)
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UserError(f"this terminal cannot show a screen (TERM=dumb); {instead}.", exit_code=USAGE)


def show(app: AcpTui) -> int:
    """Run the app to its end; the exit code."""
    import asyncio

    try:
        asyncio.run(_shown(app))
    except Exception as error:  # the last one who can tell it in a sentence
        raise _in_a_sentence(error) from None
    if isinstance(app.failure, UserError):
        raise app.failure
    if app.failure is not None:
        raise _in_a_sentence(app.failure)
    return app.return_code or 0


async def _shown(app: AcpTui) -> None:
    import asyncio

    loop = asyncio.get_running_loop()

    def ended(number: int, _frame: object) -> None:
        """In order if that is possible. On a terminal that is gone a write may wait for ever: then without.

        What the agents left behind is ended by their watchers all the same.
        """
        loop.call_soon_threadsafe(partial(app.exit, return_code=128 + number))
        last_resort = threading.Timer(GRACE, os._exit, (128 + number,))
        last_resort.daemon = True
        last_resort.start()

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    await app.run_async()


def _in_a_sentence(error: Exception) -> UserError:
    """What a person wants to know of a mistake of ours; the log gets the rest."""
    from acp_tui.connection.logs import log_to_file

    path = log_to_file()
    logging.getLogger(__name__).critical("The screen has failed", exc_info=error)
    details = f" The details are in {path}." if path is not None else ""
    return UserError(f"the screen has failed ({type(error).__name__}: {error}).{details}")
