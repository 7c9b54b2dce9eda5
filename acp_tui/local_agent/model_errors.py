"""Why a model did not answer, as one sentence for the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx2
from openai import APIStatusError
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

if TYPE_CHECKING:
    from acp_tui.local_agent.profile import ModelProfile

MAX_REASON_CHARACTERS = 300

_CONTEXT_FULL = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|exceed\w* (the )?(available )?context|too many tokens"
    r"|prompt is too long|input is too long|longer than the model|exceeds? the (maximum|model)",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(r"\btools?\b|tool[_ -]?(choice|call)|function[_ -]?call|--jinja", re.IGNORECASE)
_NO_IMAGES = re.compile(r"\bimages?\b|image_url|multi-?modal|mmproj|vision", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class ModelError(Exception):
    """The model did not answer. The message is one sentence for the user."""


class ContextFull(ModelError):  # noqa: N818 - a state that callers act on
    """The conversation does not fit into the model's context."""


def explain(error: Exception, profile: ModelProfile) -> ModelError:
    """Return the error of a request as one sentence."""
    url = profile.base_url
    said = reason(error, profile)
    in_words = f": {said}" if said else ""
    if is_context_full(error):
        return ContextFull(f"The conversation does not fit into the context of {profile.model}{in_words}.")
    if isinstance(error, ModelTimeoutError) and error.phase != "connect":
        return ModelError(f"{url} accepted the request, and then sent nothing for too long.")
    if isinstance(error, ModelConnectionError):
        return _connection_error(error, url)
    if isinstance(error, ModelQuotaExceededError):
        return ModelError(f"The quota or the credit at {url} is used up{in_words}.")
    if isinstance(error, ModelHTTPError):
        return ModelError(status_sentence(error.status_code, profile, said))
    if isinstance(error.__cause__, APIStatusError):  # below 400
        return ModelError(status_sentence(error.__cause__.status_code, profile, ""))
    if isinstance(error, ModelAPIError) and not isinstance(error.__cause__, ValueError):
        return ModelError(f"{url} ended the answer with an error{in_words}.")
    if isinstance(error, UnexpectedModelBehavior | ModelAPIError):
        return ModelError(f"{url} sent something other than an answer: most base URLs end in /v1.")
    if isinstance(error, UnicodeEncodeError):
        return ModelError(f"The key or a header for {url} contains letters that cannot be sent.")
    return ModelError(f"The answer of {url} cannot be read: {type(error).__name__}{in_words}.")


def connection_sentence(error: Exception, url: str) -> str:
    """Return why a server cannot be reached."""
    if isinstance(error, httpx2.TimeoutException | ModelTimeoutError):
        return f"{url} does not respond."
    why = _one_line(str(error)).rstrip(".")
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError | httpx2.InvalidURL):
        return f"{url} is not an address that can be used: {why}."
    if "SSL" in why.upper():
        return f"No secure connection to {url} is possible: {why}."
    if "name or service" in why.lower() or "nodename" in why.lower() or "getaddrinfo" in why.lower():
        return f"The host of {url} is not known."
    return f"Nothing answers at {url}: is the server running?"


def status_sentence(status: int, profile: ModelProfile, said: str) -> str:
    """Return what an HTTP status means for this model."""
    url = profile.base_url
    in_words = f": {said}" if said else ""
    if status in (401, 403):
        if profile.api_key:
            return f"{url} refuses the API key ({status}){in_words}."
        return f"{url} wants an API key ({status}): name its environment variable in `api_key_env`{in_words}."
    if status == 404:
        if "model" in said.lower():
            return f"{url} has no model {profile.model!r}{in_words}."
        return f"There is no such address at {url} (404): most base URLs end in /v1{in_words}."
    if status == 429:
        return f"{url} refuses more requests for now (429){in_words}."
    if status >= 500:
        return f"{url} has failed ({status}){in_words}."
    if status < 400:
        return f"{url} redirects elsewhere ({status}), which is not followed: set the final address."
    return f"{url} rejects the request ({status}){in_words}."


def is_context_full(error: Exception) -> bool:
    if isinstance(error, ModelContextWindowExceededError):
        return True
    if isinstance(error, ModelHTTPError) and error.status_code not in (400, 413, 422, 500):
        return False
    return isinstance(error, ModelAPIError) and bool(_CONTEXT_FULL.search(_message(error)))


def refuses_tools(error: Exception) -> bool:
    """Whether the server refuses the request because of its tools."""
    return _refuses(error, _NO_TOOLS)


def refuses_images(error: Exception) -> bool:
    """Whether the server refuses the request because of its images."""
    return _refuses(error, _NO_IMAGES)


def _refuses(error: Exception, subject: re.Pattern[str]) -> bool:
    if not isinstance(error, ModelHTTPError) or not subject.search(message := _message(error)):
        return False
    if error.status_code in (404, 500, 501):  # of OpenRouter and llama.cpp, but also of other faults
        return "support" in message or "--jinja" in message
    return error.status_code in (400, 415, 422)


def reason(error: Exception, profile: ModelProfile) -> str:
    """Return what the server said, safe to show: one line, without secrets."""
    text = _message(error)
    for secret in (profile.api_key, *profile.headers.values()):
        if secret and len(secret) > 3:
            text = text.replace(secret, "…")
    text = _one_line(text)
    if len(text) > MAX_REASON_CHARACTERS:
        text = f"{text[:MAX_REASON_CHARACTERS]}…"
    return text.rstrip(".")


def _message(error: Exception) -> str:
    if isinstance(error, ModelAPIError):
        return message_of(error.body) or ("" if isinstance(error, ModelHTTPError) else error.message)
    return str(error)


def message_of(body: Any) -> str:
    """Return the message in the body of an error. Servers put it in different places."""
    for _ in range(3):
        if isinstance(body, dict):
            body = body.get("error") or body.get("message") or body.get("detail") or ""
    if isinstance(body, str) and not body.lstrip().startswith("<"):  # a page in HTML says nothing to a user
        return body
    return ""


def _connection_error(error: ModelConnectionError, url: str) -> ModelError:
    cause = error.__cause__.__cause__ if error.__cause__ else None
    if error.phase == "connect" or isinstance(cause, httpx2.ConnectError):
        return ModelError(connection_sentence(cause if isinstance(cause, Exception) else error, url))
    if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return ModelError(connection_sentence(cause, url))
    return ModelError(f"The connection to {url} was lost during the answer.")


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text[: 10 * MAX_REASON_CHARACTERS]).strip()
