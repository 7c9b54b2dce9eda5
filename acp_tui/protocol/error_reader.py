"""Reads JSON-RPC errors of any shape: the most readable text, and the rest as details.

Agents put the text into `message`; into `data.details`, with a meaningless phrase in `message`; or into JSON
inside `message`, with an HTTP status as the code. Some send just a string: `"error": "text"`.
"""

from __future__ import annotations

from typing import Any

from acp_tui.protocol import values
from acp_tui.protocol.client_calls import read_auth_methods
from acp_tui.protocol.json_rpc import decode
from acp_tui.session.record import AUTH_REQUIRED
from acp_tui.session.safe_text import escape_controls, visible_excerpt, visible_json
from acp_tui.session.state import RpcError

# Messages that only repeat the code. If there is text in `data`, it says more.
_EMPTY_PHRASES = frozenset(
    {
        "", "error", "internal error", "invalid params", "invalid request", "method not found", "parse error",
        "resource not found", "server error", "unknown error", "request failed",
    }
)  # fmt: skip
_TEXTS = ("details", "detail", "message", "error", "reason", "description", "title", "errorMessage", "cause")
_SUBJECTS = ("method", "uri", "path", "sessionId")


def read_error(error: Any) -> RpcError:
    """Read the value of `error` in a response. The value can have any type."""
    if not isinstance(error, dict):
        words = error if isinstance(error, str) and error.strip() else "The agent answered with an error"
        return RpcError(
            0, escape_controls(words), None if isinstance(error, str) else _json(error), raw=error
        )
    data = error.get("data")
    said = error.get("message")
    message = said if isinstance(said, str) else ""
    readable = _text_in_json(message) or message.strip()
    if readable.lower().rstrip(".!") in _EMPTY_PHRASES:
        readable = _text_in_data(readable, data)
    code = _code(error.get("code"))
    methods = read_auth_methods(data.get("authMethods")) if isinstance(data, dict) else []
    return RpcError(
        code,
        escape_controls(readable) or f"The agent answered with error {code}",
        _detail(message, readable, data, error),
        raw=error,
        auth_required=code == AUTH_REQUIRED or bool(methods),
        auth_methods=methods,
    )


def _code(value: Any) -> int:
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 12:
        return int(value)
    return values.integer({"code": value}, "code") or 0


def _text_in_json(message: str) -> str | None:
    """Return the text inside a message that is or ends with a JSON object: `API Error: 400 {"error": …}`."""
    start = message.find("{")
    if start < 0:
        return None
    inner = _find_text(decode(message[start:]))
    if not inner:
        return None
    before = message[:start].strip().rstrip(":")
    return f"{before}: {inner}" if before else inner


def _text_in_data(message: str, data: Any) -> str:
    """Return the text in `data`; if there is none, the message, and what `data` names, such as a path."""
    inner = data.strip() if isinstance(data, str) else _find_text(data)
    if inner:
        return _text_in_json(inner) or inner
    subject = next((found for name in _SUBJECTS if (found := values.raw(values.obj(data), name))), None)
    return f"{message or 'Error'}: {subject}" if subject else message


def _find_text(value: Any, depth: int = 4) -> str | None:
    """Return the first non-blank string under a key such as `message`, at most `depth` levels deep."""
    if not isinstance(value, dict) or not depth:
        return None
    for name in _TEXTS:
        inner = value.get(name)
        if isinstance(inner, str) and inner.strip():
            return inner.strip()
        if found := _find_text(inner, depth - 1):
            return found
    return None


def _detail(message: str, readable: str, data: Any, error: dict[str, Any]) -> str | None:
    """Return the parts of an error other than `readable` and the code; None if there are no others."""
    parts = [escape_controls(message)] if message.strip() and message.strip() != readable else []
    if data not in (None, {}, "", readable):
        parts.append(_json(data))
    others = {name: value for name, value in error.items() if name not in ("code", "message", "data")}
    if others:
        parts.append(_json(others))
    return "\n".join(parts) or None


def _json(value: Any) -> str:
    if isinstance(value, str):
        return escape_controls(value)
    try:
        return visible_json(value)
    except RecursionError:
        return visible_excerpt(value, 1000)
