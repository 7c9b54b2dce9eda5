"""Why a model did not answer, as one sentence for the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import httpx2
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
)

if TYPE_CHECKING:
    from acp_tui.local_agent.profile import ModelProfile

MAX_REASON_CHARACTERS = 300

_CONTEXT_FULL = re.compile(r"context (length|window|size)|(prompt|input) is too long", re.IGNORECASE)
_SUBJECTS = {
    "tools": re.compile(r"\btools?\b|function call|--jinja", re.IGNORECASE),
    "images": re.compile(r"\bimages?\b|image_url|multi-?modal|mmproj|vision", re.IGNORECASE),
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class ModelError(Exception):
    """The model did not answer. The message is one sentence for the user."""


class ContextFull(ModelError):  # noqa: N818 - a state that callers act on
    """The conversation does not fit into the model's context."""


def explain(error: Exception, profile: ModelProfile) -> ModelError:
    """Return the error of a request as one sentence."""
    url = profile.base_url
    said = reason(getattr(error, "body", None), profile)
    in_words = f": {said}" if said else ""
    if is_context_full(error):
        return ContextFull(f"The conversation does not fit into the context of {profile.model}{in_words}.")
    if isinstance(error, ModelConnectionError | UnicodeError):
        return ModelError(connection_sentence(error, url))
    status = getattr(error, "status_code", None) or getattr(error.__cause__, "status_code", None)
    if status is not None:
        return ModelError(status_sentence(status, profile, said))
    if isinstance(error, ModelAPIError) and error.body:
        return ModelError(f"{url} ended the answer with an error{in_words}.")
    what = type(error).__name__
    return ModelError(f"{url} sent something other than an answer ({what}): most base URLs end in /v1.")


def connection_sentence(error: BaseException, url: str) -> str:
    """Return why a request got no answer. The error is one of httpx, or was caused by one."""
    while not isinstance(error, httpx2.HTTPError) and error.__cause__ is not None:
        error = error.__cause__
    why = _one_line(str(error)).rstrip(".")
    if isinstance(error, UnicodeError):
        return f"The key or a header for {url} contains letters that cannot be sent."
    if isinstance(error, httpx2.ConnectTimeout):
        return f"{url} does not respond."
    if isinstance(error, httpx2.TimeoutException):
        return f"{url} accepted the request, and then sent nothing for too long."
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError | httpx2.InvalidURL):
        return f"{url} is not an address that can be used: {why}."
    if not isinstance(error, httpx2.ConnectError):
        return f"The connection to {url} was lost during the answer."
    if "SSL" in why.upper():
        return f"No secure connection to {url} is possible: {why}."
    if re.search("name or service|nodename|getaddrinfo", why, re.IGNORECASE):
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
    if status == 404 and "model" in said.lower():
        return f"{url} has no model {profile.model!r}{in_words}."
    if status == 404:
        return f"There is no such address at {url} (404): most base URLs end in /v1{in_words}."
    if status >= 500:
        return f"{url} has failed ({status}){in_words}."
    if status < 400:
        return f"{url} redirects elsewhere ({status}), which is not followed: set the final address."
    return f"{url} rejects the request ({status}){in_words}."


def is_context_full(error: Exception) -> bool:
    if isinstance(error, ModelContextWindowExceededError):
        return True
    return isinstance(error, ModelAPIError) and bool(_CONTEXT_FULL.search(_message(error.body)))


def refuses(error: Exception, subject: Literal["tools", "images"], model: str) -> bool:
    """Whether the server refuses the request because it has tools or images."""
    if not isinstance(error, ModelHTTPError):
        return False
    message = _message(error.body).replace(model, "")  # names contain words such as "vision"
    if error.status_code in (404, 500):  # of OpenRouter and llama.cpp, but also of other faults
        return bool(_SUBJECTS[subject].search(message)) and ("support" in message or "--jinja" in message)
    return error.status_code in (400, 422) and bool(_SUBJECTS[subject].search(message))


def reason(body: Any, profile: ModelProfile) -> str:
    """Return what the server said in the body of an error, safe to show: one line, without secrets."""
    text = _message(body)
    for secret in (profile.api_key, *profile.headers.values()):
        if secret and len(secret) > 3:
            text = text.replace(secret, "…")
    return _one_line(text).rstrip(".")


def _message(body: Any) -> str:
    """Return the message in the body of an error. Servers put it in different places."""
    for _ in range(3):
        if isinstance(body, dict):
            body = body.get("error") or body.get("message") or body.get("detail") or ""
    if isinstance(body, str) and not body.lstrip().startswith("<"):  # a page in HTML says nothing to a user
        return body
    return ""


def _one_line(text: str) -> str:
    line = _CONTROL.sub(" ", text).strip()
    return line if len(line) <= MAX_REASON_CHARACTERS else f"{line[:MAX_REASON_CHARACTERS]}…"
