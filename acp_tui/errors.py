"""Errors that are meant for a person."""

from __future__ import annotations


class UserError(Exception):
    """One clear sentence that says what happened and what to do; shown without a traceback."""

    def __init__(self, sentence: str, *, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
