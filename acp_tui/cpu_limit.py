"""A limit for the CPU time of one computation, such as matching a regular expression of unknown origin."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

PATTERN_SECONDS = 0.05
"""The CPU time limit of one search, in seconds: short enough for a search at every key press."""
MAX_PATTERN_LENGTH = 2_000
"""`pattern_found` ignores patterns with more characters: compiling them may take noticeable time."""


class CpuLimitError(Exception):
    """The computation took too long."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `CpuLimitError` in the block once the process has spent `seconds` of user CPU time there.

    Works in the main thread only, and cannot be nested. Python's `re` checks for signals during a search,
    so that even a search that would take years is interrupted.
    """
    active = True

    def stop(*_: object) -> None:
        if active:
            raise CpuLimitError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)  # again, if the block catches the first
        yield
    finally:
        active = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def pattern_found(pattern: str, text: str) -> bool | None:
    """Return whether an untrusted regular expression matches anywhere in text.

    Returns None if the pattern is not valid, is too long or takes too long.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return None
    try:
        with warnings.catch_warnings(), cpu_limit(PATTERN_SECONDS):
            warnings.simplefilter("ignore")  # about sets such as [[a]
            return re.search(pattern, text) is not None
    except (re.error, CpuLimitError, OverflowError, RecursionError):
        return None
