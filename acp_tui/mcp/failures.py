"""Causes of server failures, and the exception that names the cause. Does not import the SDK.

`diagnosis` determines most causes.
"""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.session.json_depth import limit_depth
from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer


CONNECT_TIMEOUT_SECONDS = 30.0
"""The time that connecting to a server may take, unless the caller passes another timeout."""
MIN_SECRET_CHARACTERS = 6
"""Shorter values are not masked, because they occur in ordinary words."""
MAX_TEXT = 20_000
"""The maximum length of one string in a record. Longer strings, such as image data, are cut."""
MAX_VALUE = 200_000
"""The maximum length of arguments or a result as JSON. Longer values are replaced by an excerpt."""


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


def secret_values(server: ResolvedServer) -> tuple[str, ...]:
    """Return the secret values in a definition.

    These are the values of variables and headers whose names suggest a secret. If the definition contains the
    value of a secret variable of acp-tui's own environment, this value is also returned. Of a value with
    spaces, the last word is also returned. Values shorter than `MIN_SECRET_CHARACTERS` are left out.
    """
    named = {**server.env, **server.headers}
    found = {value for name, value in named.items() if is_secret_name(name)}
    texts = "\n".join([server.url, *server.args, *named.values()])
    found.update(value for name, value in os.environ.items() if is_secret_name(name) and value in texts)
    # Of "Bearer TOKEN", the server may print the token alone.
    found.update([value.rpartition(" ")[2] for value in found])
    return tuple(
        sorted((value for value in found if len(value) >= MIN_SECRET_CHARACTERS), key=len, reverse=True)
    )


def mask_secrets(text: str, values: tuple[str, ...]) -> str:
    """Replace the given values, and everything else that looks like a secret, with a mask."""
    for value in values:
        text = text.replace(value, MASK)
    return redact_text(text)


def shorten_for_record(value: Any, secrets: tuple[str, ...]) -> Any:
    """Return a JSON value for a record, with long strings shortened and the secrets masked."""
    short = _short_texts(limit_depth(value), secrets)
    text = json.dumps(short)
    if len(text) <= MAX_VALUE:
        return short
    return f"{text[:MAX_VALUE]}… {len(text) - MAX_VALUE:,} more characters"


def recordable_result(result: Any, secrets: tuple[str, ...]) -> Any:
    """Return a result for a record, with long strings shortened and the secrets masked.

    A result that is still too long stays an object: `content` becomes an excerpt, and `isError` is kept.
    """
    found = shorten_for_record(result, secrets)
    if not isinstance(result, dict) or isinstance(found, dict):
        return found
    short: dict[str, Any] = {"content": [{"type": "text", "text": found}]}
    return {**short, "isError": True} if result.get("isError") is True else short


def _short_texts(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        text = mask_secrets(value, secrets)
        rest = len(text) - MAX_TEXT
        return text if rest <= 0 else f"{text[:MAX_TEXT]}… {rest:,} more characters"
    if isinstance(value, list):
        return [_short_texts(item, secrets) for item in value]
    if isinstance(value, dict):
        return {key: _short_texts(item, secrets) for key, item in value.items()}
    return value
