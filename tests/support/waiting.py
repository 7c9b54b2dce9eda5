"""Waiting for what other processes and threads do, which tell nobody of it: looked at again and again."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE = 0.005
PATIENCE = 60.0
"""Seconds after which a test that would hang fails instead; nothing is measured by it."""


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(PAUSE)


async def until(condition: Callable[[], object]) -> None:
    """The same, while everything else goes on."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(PAUSE)
