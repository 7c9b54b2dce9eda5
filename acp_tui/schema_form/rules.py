"""Checks a value against the limits of its field. A problem is returned as one sentence; "" means none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.schema_form.fields import Limits

    PatternSearch = Callable[[str, str], bool | None]
"""Returns whether a pattern is found in a text; None if the pattern is unusable or too slow."""

MAX_SHOWN_PATTERN = 60
"""The maximum number of characters shown of a pattern. Longer patterns are cut."""

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f<>\"{}|\\^`]+")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(
    r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def text_problem(text: str, limits: Limits, search: PatternSearch) -> str:
    """Return why a text breaks the limits; "" if no problem is found."""
    length = len(text)
    if length < limits.min_length:
        return f"At least {_count(limits.min_length, 'character')}, now {length:,}."
    if limits.max_length is not None and length > limits.max_length:
        return f"At most {_count(limits.max_length, 'character')}, now {length:,}."
    if check := _FORMATS.get(limits.format):
        is_valid, sentence = check
        if not is_valid(text):
            return sentence
    if limits.pattern and search(limits.pattern, text) is False:
        shown = limits.pattern
        shown = shown if len(shown) <= MAX_SHOWN_PATTERN else f"{shown[:MAX_SHOWN_PATTERN]}…"
        return f"Must match the pattern {shown}"
    return ""


def number_problem(number: float, limits: Limits) -> str:
    """Return why a number breaks the limits; "" if it does not."""
    if limits.minimum is not None and number < limits.minimum:
        return f"Must be at least {limits.minimum}."
    if limits.maximum is not None and number > limits.maximum:
        return f"Must be at most {limits.maximum}."
    if limits.above is not None and number <= limits.above:
        return f"Must be more than {limits.above}."
    if limits.below is not None and number >= limits.below:
        return f"Must be less than {limits.below}."
    if limits.multiple_of is not None and not _is_multiple(number, limits.multiple_of):
        return f"Must be a multiple of {limits.multiple_of}."
    return ""


def items_problem(items: Sequence[Any], limits: Limits) -> str:
    """Return why an array breaks the limits: too few, too many or repeated items; "" if it does not."""
    count = len(items)
    if count < limits.min_items:
        return f"At least {_count(limits.min_items, 'item')}, now {count:,}."
    if limits.max_items is not None and count > limits.max_items:
        return f"At most {_count(limits.max_items, 'item')}, now {count:,}."
    if limits.unique and len(set(items)) < count:
        return "Each item can appear only once."
    return ""


def _is_multiple(number: float, unit: float) -> bool:
    """Return True if a number is a multiple of `unit`. Tolerates rounding: 0.3 is a multiple of 0.1."""
    if isinstance(number, int) and isinstance(unit, int):
        return number % unit == 0
    try:
        quotient = number / unit
        return abs(quotient - round(quotient)) < min(0.01, 1e-9 * max(1.0, abs(quotient)))
    except OverflowError:
        return True  # too large to tell


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= (28 if month == 2 and not leap else _MONTH_DAYS[month - 1])


def _is_date_time(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t") and _TIME.fullmatch(text[11:]) is not None


_FORMATS: dict[str, tuple[Callable[[str], object], str]] = {
    "email": (_EMAIL.fullmatch, "Must be an email address."),
    "uri": (_URI.fullmatch, "Must be a URL, such as https://example.com."),
    "date": (_is_date, "Must be a date, such as 2026-01-31."),
    "date-time": (_is_date_time, "Must be a date and time with a zone, such as 2026-01-31T09:30:00Z."),
}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
