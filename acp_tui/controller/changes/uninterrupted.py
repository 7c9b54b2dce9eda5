"""A decorator for work that must not be cancelled halfway."""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_running: set[asyncio.Task[Any]] = set()  # asyncio itself keeps only weak references


def uninterrupted(
    work: Callable[Arguments, Coroutine[Any, Any, Result]],
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Make a coroutine function run to its end even if its caller is cancelled.

    Otherwise files could be replaced without a record, and could not be restored.
    """

    @wraps(work)
    async def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        task = asyncio.create_task(work(*args, **kwargs))
        _running.add(task)
        task.add_done_callback(_running.discard)
        return await asyncio.shield(task)

    return run
