"""Controls when the garbage collector runs.

A full collection takes as long as two frames, which delays keys noticeably, and a conversation only grows. So
long-lived objects are frozen: the program after its start, and each turn when it has ended.
"""

from __future__ import annotations

import gc


def pause() -> None:
    """Disable collection while modules load, where it costs a tenth of the start-up time."""
    gc.disable()


def resume() -> None:
    """Enable collection, except for objects that exist now."""
    gc.freeze()
    gc.enable()


def collect_and_freeze() -> None:
    """Collect what is new, then exclude it from later collections."""
    if gc.isenabled():
        gc.collect()
        gc.freeze()
