"""Formats numbers with their unit."""

from __future__ import annotations


def format_size(count: float) -> str:
    """Return a number of bytes with its unit, e.g. "3 kB"."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def pluralize(count: int, noun: str) -> str:
    """Return the number and the noun, e.g. "1 session" or "2,000 sessions"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
