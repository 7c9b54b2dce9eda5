"""Causes of server failures, and the exception that names the cause. Does not import the SDK.

`diagnosis` determines most causes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.session.safe_text import limit_depth
from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer


CONNECT_TIMEOUT_SECONDS = 30.0
"""The time that connecting to a server may take, unless the caller passes another timeout."""
MAX_LINES = 3
_TRACEBACK = "Traceback (most recent call last)"
# npm puts this word before each line. A line that only repeats the HTTP status says nothing.
_NPM = re.compile(r"npm (?:error|ERR!) +(?!A complete log|Note that|\d+ *$)\S")
_ERRORS = (
    re.compile(r"(?:Uncaught )?[\w.$]*(?:Error|Exception)(?: \[\w+\])?(?::|$)"),
    re.compile(r"error(?:\[\w+\])?:", re.IGNORECASE),
)
"""How a line begins that names an error, the most reliable pattern first."""
_MENTION = re.compile(r"\b\w*Error\b|Cannot find")
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


def error_lines(stderr: Sequence[str]) -> list[str]:
    """Return the lines that say what went wrong; the last lines if none does. At most `MAX_LINES`."""
    lines = [line.rstrip() for line in stderr if line.strip()]
    if npm := list(islice(filter(_NPM.match, lines), MAX_LINES)):
        return npm
    for line in _traceback_errors(lines):
        return [line]
    for pattern in _ERRORS:
        for line in lines:
            if pattern.match(line.strip()):
                return [line.strip()]
    for line in lines:
        if _MENTION.search(line):
            return [line.strip()]
    return [line.strip() for line in lines[-MAX_LINES:]]


def _traceback_errors(lines: Sequence[str]) -> Iterator[str]:
    """Yield the error of the last Python traceback: the first line that is indented as its head is."""
    starts = [number for number, line in enumerate(lines) if _TRACEBACK in line]
    if not starts:
        return
    column = lines[starts[-1]].index(_TRACEBACK)
    for line in lines[starts[-1] + 1 :]:
        if line[column : column + 1].strip():
            yield line[column:]


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
