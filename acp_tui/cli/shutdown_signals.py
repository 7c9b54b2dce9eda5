"""Shuts the app down cleanly when it gets a signal, or forcibly if a clean shutdown takes too long."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from acp_tui.ui.app import AcpTui

SHUTDOWN_GRACE_SECONDS = 8.0
"""Seconds that a clean shutdown may take after a signal. After that, the process exits without cleanup."""


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
