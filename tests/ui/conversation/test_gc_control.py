"""Freeing the memory of closed screens."""

from __future__ import annotations

import gc
import weakref
from contextvars import Context, ContextVar
from unittest.mock import Mock

import pytest

from acp_tui.ui.terminal import gc_control
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


async def test_a_screen_is_freed_once_only_its_own_context_holds_it(attempts: Mock) -> None:
    holder = [Screen()]
    screen = weakref.ref(holder[0])

    def close() -> None:
        SHOWN.set(holder[0])
        gc_control.free(holder[0])

    Context().run(close)
    await until(lambda: attempts.called)
    assert screen() is not None
    holder.clear()
    await until(lambda: screen() is None)
