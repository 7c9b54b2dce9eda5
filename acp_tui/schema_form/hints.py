"""Short hints about a field: what it expects, and whether it seems to ask for a secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.schema_form.fields import Field, Limits

_KINDS = {"integer": "whole number", "number": "number", "json": "JSON", "choices": "any of these"}
_ITEMS = {"text": "", "integer": "whole numbers", "number": "numbers"}
_FORMATS = {
    "email": "email address",
    "uri": "URL",
    "date": "date, such as 2026-01-31",
    "date-time": "date and time",
}

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET_NAMES = re.compile(
    r"\b(password|passwd|passphrase|passcode|secrets?|credentials?|[a-z]*token|pin|cvv"
    r"|(api|access|private) ?key)\b"
)
_SECRET_PROSE = re.compile(r"\b(password|passphrase|passcode|(api|access|private) ?key|access token)\b")
MAX_SEARCHED = 2_000
"""How many characters of a description are searched for words such as "password"."""


def expectation(field: Field, between_items: str = "one per line") -> str:
    """Return what a field expects, such as "whole number, 1 to 10"; "" for a choice or unrestricted text.

    `between_items` says how the items of a list are entered.
    """
    limits = field.limits
    words = _KINDS.get(field.kind, "")
    if field.kind == "list":
        words = ", ".join(filter(None, [_ITEMS[field.item_kind], between_items]))
    if field.kind == "text" or (field.kind == "list" and field.item_kind == "text"):
        parts = [
            words,
            _FORMATS.get(limits.format, ""),
            _size(limits.min_length, limits.max_length, "characters"),
        ]
    else:
        parts = [words, _range(limits)]
    if field.kind in ("list", "choices"):
        parts.append(_size(limits.min_items, limits.max_items, "items"))
    return ", ".join(filter(None, parts))


def _size(least: int, most: int | None, noun: str) -> str:
    if most is None:
        return f"at least {least:,} {noun}" if least > 1 else ""
    if least == most:
        return f"{least:,} {noun}"
    return f"{least:,} to {most:,} {noun}" if least else f"up to {most:,} {noun}"


def _range(limits: Limits) -> str:
    if limits.minimum is not None and limits.maximum is not None:
        return f"{limits.minimum} to {limits.maximum}"
    bounds = (
        ("at least", limits.minimum),
        ("at most", limits.maximum),
        ("more than", limits.above),
        ("less than", limits.below),
    )
    return ", ".join(f"{words} {bound}" for words, bound in bounds if bound is not None)


def asks_for_secret(field: Field) -> bool:
    """Return True if a field seems to ask for a password, a token or the like.

    A name such as `maxTokens` does not count, because a number of tokens is not a secret.
    """
    if field.limits.format == "password":
        return True
    if field.kind != "text":
        return False
    names = f"{' '.join(_WORDS.findall(field.name))} | {field.title}".lower()
    prose = field.description[:MAX_SEARCHED].lower()
    return bool(_SECRET_NAMES.search(names) or _SECRET_PROSE.search(prose))
