"""When Python looks for garbage.

A look at everything takes as long as two frames and is felt at a key, and a conversation only grows. So
what is there to stay is set aside: the program itself, and each turn when it has ended.
"""

from __future__ import annotations

import gc


def pause() -> None:
    """Not while modules are loaded: it would be a tenth of the start."""
    gc.disable()


def resume() -> None:
    """Look again, but not at what is there now."""
    gc.freeze()
    gc.enable()


def collect_and_freeze() -> None:
    """Look at what is new since the last time, and from now on no more."""
    if gc.isenabled():
        gc.collect()
        gc.freeze()
