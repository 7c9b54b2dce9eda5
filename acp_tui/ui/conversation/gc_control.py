"""Controls when the garbage collector runs.

A full collection takes as long as two frames, which delays keys noticeably, and conversations only grow.
Therefore long-lived objects are excluded: the program after its start, and each turn once it has ended.
"""

from __future__ import annotations

import gc

_all_imported = False  # the first conversation has been opened


def pause() -> None:
    """Disable collection, which would cost a tenth of the start-up time while modules are imported.

    Does nothing once they all are: other tabs may be streaming while a further conversation is opened.
    """
    if not _all_imported:
        gc.disable()


def resume(*, all_imported: bool = False) -> None:
    """Enable collection, except for objects that exist now."""
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
    """Collect garbage now, also among the excluded objects: a conversation was closed."""
    if gc.isenabled():
        gc.unfreeze()
        collect_and_freeze()
