"""Formats what a session used: tokens, money, the context window, and the limits of the user's plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.state import Quota, Session, TurnUsage

TOKEN_LABELS = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cachedReadTokens": "cached",
    "cachedWriteTokens": "written to the cache",
    "thoughtTokens": "thought",
}
"""The labels of token counts, by their names in the protocol."""
COMPACT_COMMANDS = ("compact", "compress")
"""Names of slash commands with which agents summarise their context."""


def short_count(count: int) -> str:
    """Format a number of tokens as `950`, `12k` or `1.2M`."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 999_500 else f"{count / 1_000_000:.1f}M"


def format_money(amount: float, currency: str) -> str:
    """Format an amount as `$0.05`, or as `0.05 CHF` for currencies without a sign."""
    sign = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}.get(currency.upper())
    figure = "<0.01" if 0 < amount < 0.01 else f"{amount:,.2f}"
    if sign is None:
        return f"{figure} {currency}".strip()
    return f"<{sign}0.01" if figure.startswith("<") else f"{sign}{figure}"


def total_tokens(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Sum token counts by name. Names in `TOKEN_LABELS` come first; sums of zero are left out."""
    sums: dict[str, int] = dict.fromkeys(TOKEN_LABELS, 0)
    for tokens in counts:
        for name, count in tokens.items():
            sums[name] = sums.get(name, 0) + count
    return {name: count for name, count in sums.items() if count}


def tokens_words(tokens: dict[str, int]) -> str:
    """Return token counts as "1,200 input · 40 output". The total is left out if there are other counts."""
    named = {name: count for name, count in tokens.items() if name != "totalTokens"} or tokens
    return " · ".join(f"{count:,} {TOKEN_LABELS.get(name, name)}" for name, count in named.items())


def models_of(turns: Iterable[TurnUsage]) -> dict[str, dict[str, int]]:
    """Return the tokens of all turns by model."""
    names: dict[str, list[dict[str, int]]] = {}
    for turn in turns:
        for model, tokens in turn.models.items():
            names.setdefault(model, []).append(tokens)
    return {model: total_tokens(counts) for model, counts in names.items()}


def context_share(used: int | None, size: int | None) -> float | None:
    """Return the used share of the context window; 1.0 for a full window, None if the share is unknown."""
    return None if used is None or not size or size < 0 else used / size


def compact_command(session: Session) -> str | None:
    """Return the agent's slash command that summarises the context, such as "/compact", or None."""
    offered = [command.name for command in session.commands]
    return next((f"/{name}" for name in COMPACT_COMMANDS if name in offered), None)


def quota_words(quota: Quota, now: float) -> str:
    """Return how much of a limit is used, such as "5-hour limit: 91% used, resets in 40 min"."""
    if quota.status == "rejected":
        state = "used up"
    elif quota.share is not None:
        state = f"{quota.share:.0%} used"
    else:
        state = "nearly used up" if quota.status == "allowed_warning" else "not used up"
    resets = "" if quota.resets_at is None else f", {_reset_words(quota.resets_at - now)}"
    return f"{quota.name}: {state}{resets}"


def _reset_words(seconds: float) -> str:
    if seconds <= 0:
        return "has since been reset"
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return f"resets in {minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"resets in {hours} h {rest} min" if rest else f"resets in {hours} h"
    return f"resets in {hours // 24} days"
