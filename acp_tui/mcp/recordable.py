"""Shortens the arguments and results of MCP calls and masks secrets in them, before they are recorded."""

from __future__ import annotations

import json
from typing import Any

from acp_tui.mcp.secrets import mask_secrets
from acp_tui.session.json_depth import limit_depth

MAX_TEXT = 20_000
"""The maximum length of one string in a record. Longer strings, such as image data, are cut."""
MAX_VALUE = 200_000
"""The maximum length of arguments or a result as JSON. Longer values are replaced by an excerpt."""


def recordable(value: Any, secrets: tuple[str, ...]) -> Any:
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
    found = recordable(result, secrets)
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
