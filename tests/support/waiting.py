"""Waits for what other processes, threads and tasks do. Tests wait in no other way."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

POLL_SECONDS = 0.01
TIMEOUT_SECONDS = 60.0
"""When a test fails instead of hanging. Long, so that tests pass on a loaded machine."""


def wait_until(
    condition: Callable[[], object],
    *,
    between: Callable[[], object] | None = None,
    describe: Callable[[], str] | None = None,
) -> None:
    """Wait until the condition is true.

    Args:
        condition: Checked again and again.
        between: Called between two checks instead of sleeping.
        describe: Returns what to say if the condition does not become true.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, _timeout_message(describe)
        if between is None:
            time.sleep(POLL_SECONDS)
        else:
            between()


async def until(
    condition: Callable[[], object],
    *,
    between: Callable[[], Awaitable[object]] | None = None,
    describe: Callable[[], str] | None = None,
) -> None:
    """Wait like `wait_until`, while other tasks run."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, _timeout_message(describe)
        if between is None:
            await asyncio.sleep(POLL_SECONDS)
        else:
            await between()


def _timeout_message(describe: Callable[[], str] | None) -> str:
    return "the condition did not become true" + (f": {describe()}" if describe else "")
