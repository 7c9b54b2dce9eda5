"""What every command that opens a screen shares: whatever ends it, it ends in order and says why."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from acp_tui.cli.options import USAGE
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.ui.app import AcpTui

log = logging.getLogger(__name__)

WORDS = 300
"""Characters of a mistake that are told; an agent may have had a say in them."""
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


class ScreenFailedError(UserError):
    """The app ended because of an error that nobody expected."""


def show(app: AcpTui) -> int:
    """Run the app to its end; the exit code. Raises `ScreenFailedError` or what the app gave up with."""
    import asyncio

    _log_what_nobody_catches()
    try:
        asyncio.run(_shown(app))
    except Exception as error:  # the last one who can tell it in a sentence
        app.failure = app.failure or error
    if app.failure is not None and app.ended_by is None:
        raise app.failure if isinstance(app.failure, UserError) else _in_a_sentence(app.failure)
    if app.failure is not None:
        log.error("Something failed while a signal ended the screen", exc_info=app.failure)
    return app.return_code or 0 if app.ended_by is None else 128 + app.ended_by


async def _shown(app: AcpTui) -> None:
    import asyncio

    loop = asyncio.get_running_loop()

    def ended(number: int, _frame: object) -> None:
        """In order; but what hangs, such as a thread that reads from a server that is gone, has no say in it.

        What the agents left behind is ended by their watchers all the same.
        """
        app.hurry()
        with suppress(RuntimeError):  # it has just ended by itself
            loop.call_soon_threadsafe(app.end, number)
        last_resort = threading.Timer(GRACE, os._exit, (128 + number,))
        last_resort.daemon = True
        last_resort.start()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    # A signal may come to any thread while the one that has to act sleeps in the loop. A loop that listens to
    # one of them is woken by all.
    loop.add_signal_handler(signal.SIGCONT, lambda: None)
    loop.set_exception_handler(lambda _, context: _report(app, context))
    await app.run_async()


# --------------------------------------------------------------------------- what goes wrong


class _FirstToTheFile(logging.Handler):
    """Whoever logs before logging was set up must not write onto the screen either."""

    def emit(self, record: logging.LogRecord) -> None:
        """Set it up."""
        from acp_tui.connection.logs import log_to_file

        log_to_file()
        logging.getLogger().handle(record)


def _log_what_nobody_catches() -> None:
    """Python would print it, in the middle of the screen or after it."""
    logging.lastResort = _FirstToTheFile()
    logging.captureWarnings(capture=True)
    threading.excepthook = lambda problem: log.error(
        "A thread has failed",
        exc_info=(problem.exc_type, problem.exc_value, problem.exc_traceback),  # type: ignore[arg-type]
    )
    sys.unraisablehook = lambda problem: log.error(
        "%s: %r", problem.err_msg, problem.object, exc_info=problem.exc_value
    )


def _report(app: AcpTui, context: dict[str, Any]) -> None:
    """Something beside the screen failed: what it does not concern goes on."""
    log.error("%s: %r", context["message"], context)
    app.report(context.get("exception"), context["message"])


def _in_a_sentence(error: Exception) -> ScreenFailedError:
    """What a person wants to know of a mistake of ours; the log gets the rest."""
    log.critical("The screen has failed", exc_info=error)
    words = shorten(visible_line(f"{type(error).__name__}: {error}"), WORDS, placeholder=" …")
    return ScreenFailedError(f"the screen has failed ({words}).{_where()}")


def _where() -> str:
    from acp_tui.connection.logs import log_to_file

    path = log_to_file()
    return f" The details are in {path}." if path is not None else ""
