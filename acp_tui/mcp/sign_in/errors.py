"""Errors of a sign-in. The message of each error is one sentence for the user and contains no token."""

from __future__ import annotations

from acp_tui.mcp.failures import FailureCause, ServerFailure


class SignInError(ServerFailure):
    """A sign-in that failed."""

    def __init__(self, sentence: str, cause: FailureCause = FailureCause.SIGN_IN_FAILED) -> None:
        super().__init__(cause, sentence)


class SignInRequired(SignInError):  # noqa: N818  # a state rather than a fault
    """A server requires a sign-in, but there is no `SignInInteraction` with which to ask the user."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, FailureCause.SIGN_IN_REQUIRED)


class SignInCancelled(SignInError):  # noqa: N818  # what the user decided
    """The user declined or cancelled the sign-in."""
