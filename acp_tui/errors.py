"""Errors that are shown to the user or sent to the agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class UserError(Exception):
    """An error shown to the user as one sentence, without a traceback."""

    def __init__(self, sentence: str, *, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class UsageError(UserError):
    """An error in what the user typed or configured. The exit code is 2."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, exit_code=2)


@contextmanager
def os_errors_reported(failure: str) -> Iterator[None]:
    """Within the block, turn an `OSError` into a `UserError`: `failure`, a colon, and the reason."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{failure}: {error.strerror or error}.") from error


class Refusal(Exception):  # noqa: N818  # an answer rather than a fault
    """Raised to answer a request of the agent with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
