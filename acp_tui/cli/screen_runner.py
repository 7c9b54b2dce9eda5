"""Runs the Textual app for a command: checks the terminal, and reports crashes in one sentence."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import argparse
    import asyncio

    from acp_tui.ui.app import AcpTui


SHUTDOWN_GRACE_SECONDS = 8.0
"""Seconds that a clean shutdown may take after a signal. After that, the process exits without cleanup."""
log = logging.getLogger(__name__)
MAX_ERROR_CHARS = 300
"""The maximum length of an error text to print. It is limited because it may contain text from an agent."""


def handle_end_signals(app: AcpTui, loop: asyncio.AbstractEventLoop) -> None:
    """Make SIGINT, SIGTERM and SIGHUP end the app."""

    def on_end_signal(number: int, _frame: object) -> None:
        """Shut down cleanly. If the shutdown exceeds `SHUTDOWN_GRACE_SECONDS`, exit without cleanup.

        In both cases the agents' watcher processes end the remaining processes.
        """
        app.discard_blocked_output()
        with suppress(RuntimeError):  # the loop has just been closed
            loop.call_soon_threadsafe(app.shut_down, number)
        hard_exit = threading.Timer(SHUTDOWN_GRACE_SECONDS, os._exit, (128 + number,))
        hard_exit.daemon = True
        hard_exit.start()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_end_signal)
    # A signal may reach any thread while the main thread sleeps in the loop. A handler for one signal makes
    # asyncio set the wakeup fd, and then every signal wakes the loop.
    loop.add_signal_handler(signal.SIGCONT, lambda: None)


def add_theme_option(parser: argparse.ArgumentParser) -> None:
    about = "colour theme: auto, dark, light, high-contrast, ansi, nord, gruvbox, or your own"
    parser.add_argument("--theme", metavar="NAME", help=about)


def has_usable_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def require_terminal(instead: str) -> None:
    """Raise `UserError` if the UI cannot run here. `instead` is a clause that offers an alternative."""
    if sys.platform == "win32":
        raise UsageError("Windows is supported through WSL only: run acp-tui there.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"stdin and stdout must be a terminal; {instead}.")
    if (kind := os.environ.get("TERM", "")) in ("", "dumb"):
        why = f"TERM={kind}" if kind else "TERM is not set"
        raise UsageError(f"This terminal is not supported ({why}); {instead}.")


class ScreenFailedError(UserError):
    """The app crashed because of an unexpected error."""


def run_app(app: AcpTui, upkeep: AbstractAsyncContextManager[None] | None = None) -> int:
    """Run the app inside the context manager `upkeep`, if given, and return the exit code.

    Raises `ScreenFailedError`, or the app's own `UserError`.
    """
    import asyncio

    _log_uncaught_errors()
    try:
        asyncio.run(_run_async(app, upkeep or nullcontext()))
    except Exception as error:  # reported below in one sentence
        app.failure = app.failure or error
    if app.failure is not None and app.exit_signal is None:
        raise app.failure if isinstance(app.failure, UserError) else _crash_error(app.failure)
    if app.failure is not None:
        log.error("Error while shutting down after a signal", exc_info=app.failure)
    return app.return_code or 0 if app.exit_signal is None else 128 + app.exit_signal


async def _run_async(app: AcpTui, upkeep: AbstractAsyncContextManager[None]) -> None:
    import asyncio

    loop = asyncio.get_running_loop()
    handle_end_signals(app, loop)
    loop.set_exception_handler(lambda _, context: _report_task_error(app, context))
    async with upkeep:
        await app.run_async()


# --------------------------------------------------------------------------- errors


class _LogFileSetup(logging.Handler):
    """Sets up the log file when the first message is logged. Otherwise Python would print the message."""

    def emit(self, record: logging.LogRecord) -> None:
        """Set up the log file and log the record again."""
        from acp_tui.store.log_file import log_to_file

        log_to_file()
        logging.getLogger().handle(record)


def _log_uncaught_errors() -> None:
    """Log warnings and uncaught errors that Python would print onto the screen."""
    logging.lastResort = _LogFileSetup()
    logging.captureWarnings(capture=True)
    threading.excepthook = lambda problem: log.error(
        "Uncaught exception in a thread",
        exc_info=(problem.exc_type, problem.exc_value, problem.exc_traceback),  # type: ignore[arg-type]
    )
    sys.unraisablehook = lambda problem: log.error(
        "%s: %r", problem.err_msg, problem.object, exc_info=problem.exc_value
    )


def _report_task_error(app: AcpTui, context: dict[str, Any]) -> None:
    """Log and show an error in a background task; the app keeps running."""
    log.error("%s: %r", context["message"], context)
    app.report(context.get("exception"), context["message"])


def _crash_error(error: Exception) -> ScreenFailedError:
    """Log the traceback of a crash, and return an error that describes the crash in one sentence."""
    log.critical("The app crashed", exc_info=error)
    message = shorten(escape_line(f"{type(error).__name__}: {error}"), MAX_ERROR_CHARS, placeholder=" …")
    return ScreenFailedError(f"Internal error ({message}).{_log_file_hint()}")


def _log_file_hint() -> str:
    from acp_tui.store.log_file import log_to_file

    path = log_to_file()
    return f" Details: {path}." if path is not None else ""
