"""Controls when the garbage collector runs.

A full collection delays keys noticeably: it takes as long as two frames, and longer as conversations grow.
Therefore long-lived objects are excluded from later collections: those that exist once the program has
started, and those that each turn leaves behind.
"""

from __future__ import annotations

import asyncio
import gc
import weakref
from contextvars import Context

FREE_DELAYS_SECONDS = (5.0, 60.0, 300.0)
"""Seconds before each attempt to free a closed screen.

For some seconds, asyncio's timers keep the screen alive, even if cancelled: their contexts refer to it.
"""

_all_imported = False  # true once the first conversation has been opened


def pause() -> None:
    """Disable collection while modules are imported, because it would take a tenth of the start-up time.

    Does nothing once all modules are imported. `pause` is also called when another tab is opened. Agents in
    other tabs can be busy then, so garbage must be collected.
    """
    if not _all_imported:
        gc.disable()


def resume(*, all_imported: bool = False) -> None:
    """Enable collection, except for objects that exist now.

    `all_imported` says that all modules are imported: from then on, `pause` does nothing.
    """
    global _all_imported  # there is one garbage collector
    _all_imported = _all_imported or all_imported
    gc.freeze()
    gc.enable()


def collect_and_freeze() -> None:
    """Collect garbage now, and exclude what remains from later collections."""
    if gc.isenabled():
        gc.collect()
        gc.freeze()


def collect_frozen() -> None:
    """Collect garbage now, also among the objects that other collections leave out.

    Does nothing while collection is disabled.
    """
    if gc.isenabled():
        gc.unfreeze()
        collect_and_freeze()


def free(closed: object) -> None:
    """Free the memory of a closed screen later, once nothing refers to the screen."""
    _free_later(weakref.ref(closed), 0)


def _free_later(closed: weakref.ref[object], attempt: int) -> None:
    if attempt < len(FREE_DELAYS_SECONDS):
        delay = FREE_DELAYS_SECONDS[attempt]
        loop = asyncio.get_running_loop()
        # The context of the caller could refer to the screen.
        loop.call_later(delay, _free_now, closed, attempt, context=Context())


def _free_now(closed: weakref.ref[object], attempt: int) -> None:
    if closed() is not None:
        collect_frozen()
    if closed() is not None:
        _free_later(closed, attempt + 1)
