"""Causes of server failures, and the exception that names the cause. Does not import the SDK.

`diagnosis` determines most causes.
"""

from __future__ import annotations

from enum import StrEnum

from acp_tui.errors import UserError

CONNECT_TIMEOUT_SECONDS = 30.0
"""The time that connecting to a server may take, unless the caller passes another timeout."""


class FailureCause(StrEnum):
    """Why a server cannot be used or a request failed. The values are part of the `--json` output."""

    CONFIGURATION = "configuration"  # e.g. an environment variable that is not set
    COMMAND_NOT_FOUND = "command-not-found"
    WRONG_RUNTIME = "wrong-runtime"  # the version of Node, Python or uv
    EXITED = "exited"
    NOISE = "noise-on-stdout"
    HANDSHAKE = "handshake"
    SIGN_IN_REQUIRED = "sign-in-required"  # HTTP 401
    SIGN_IN_FAILED = "sign-in-failed"
    CREDENTIALS_REFUSED = "credentials-refused"  # HTTP 401 despite an Authorization header
    FORBIDDEN = "forbidden"  # HTTP 403
    HTTP_STATUS = "http-status"  # any other status that is an error
    REDIRECT = "redirect"  # a redirect that is not followed
    TLS = "tls"
    UNREACHABLE = "unreachable"  # no connection to the host
    TIMEOUT = "timeout"
    CLOSED = "closed"  # the server ended an established connection
    ANSWER = "error-answer"  # a request was answered with an error
    INVALID_ANSWER = "invalid-answer"  # an answer that does not follow the protocol


class ServerFailure(UserError):  # noqa: N818  # named after what failed
    """A server that cannot be used, or a failed request. The message is a sentence for the user."""

    def __init__(self, cause: FailureCause, sentence: str) -> None:
        super().__init__(sentence)
        self.cause = cause
        self.sentence = sentence

    @property
    def needs_sign_in(self) -> bool:
        """Whether the server requires credentials, so that signing in can help."""
        return self.cause is FailureCause.SIGN_IN_REQUIRED
