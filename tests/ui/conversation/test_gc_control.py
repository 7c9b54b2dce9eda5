"""Freeing the memory of closed screens."""

from __future__ import annotations

import gc
import weakref
from contextvars import Context, ContextVar
from unittest.mock import Mock

import pytest

from acp_tui.ui.conversation import gc_control
from tests.support.waiting import until

SHOWN: ContextVar[object] = ContextVar("shown")


class Screen:
    """Refers to itself, so that only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def attempts(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Let one attempt to free a screen follow the other, and return the function that is called."""
    gc.enable()
    collect = Mock(wraps=gc_control.collect_frozen)
    monkeypatch.setattr(gc_control, "collect_frozen", collect)
    monkeypatch.setattr(gc_control, "FREE_DELAYS_SECONDS", (0.05,) * 100)
    return collect


async def test_a_screen_is_freed_once_its_last_holder_is_gone(attempts: Mock) -> None:
    holder = [Screen()]
    screen = weakref.ref(holder[0])
    gc_control.free(holder[0])
    await until(lambda: attempts.called)
    assert screen() is not None
    holder.clear()
    await until(lambda: screen() is None)


async def test_a_screen_in_the_context_of_the_caller_is_freed() -> None:
    def close() -> weakref.ref[Screen]:
        screen = Screen()
        SHOWN.set(screen)
        gc_control.free(screen)
        return weakref.ref(screen)

    screen = Context().run(close)
    await until(lambda: screen() is None)
