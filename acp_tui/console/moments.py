"""Formats the time of an event for lists."""

from __future__ import annotations

from datetime import datetime


def format_moment(moment: float, now: datetime) -> str:
    """Format a time in the local zone: `14:05` today, `Nov 3` this year, otherwise `2025-11-03`.

    Return `?` for a time that is out of range.
    """
    try:
        then = datetime.fromtimestamp(moment, now.tzinfo).astimezone()
    except (OverflowError, ValueError, OSError):
        return "?"
    today = now.astimezone()
    if then.date() == today.date():
        return f"{then:%H:%M}"
    return f"{then:%b} {then.day}" if then.year == today.year else f"{then:%Y-%m-%d}"
