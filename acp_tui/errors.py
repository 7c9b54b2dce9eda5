"""Errors that are shown to the user or sent to the agent."""

from __future__ import annotations

from typing import Any


class UserError(Exception):
    """An error shown to the user as one sentence, without a traceback."""

    def __init__(self, sentence: str, *, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class Refusal(Exception):  # noqa: N818  # an answer rather than a fault
    """Raised to answer a request of the agent with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
