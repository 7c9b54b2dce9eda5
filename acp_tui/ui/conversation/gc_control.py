"""Controls when the garbage collector runs.

A full collection takes as long as two frames, which delays keys noticeably, and conversations only grow.
Therefore long-lived objects are excluded: the program after its start, and each turn once it has ended.
"""

from __future__ import annotations

import gc


def pause() -> None:
    """Disable collection, which would cost a tenth of the start-up time while modules are imported."""
    gc.disable()


def resume() -> None:
    """Enable collection, except for objects that exist now."""
    gc.freeze()
    gc.enable()


def collect_and_freeze() -> None:
    """Collect garbage now, and exclude what remains from later collections."""
    if gc.isenabled():
        gc.collect()
        gc.freeze()
