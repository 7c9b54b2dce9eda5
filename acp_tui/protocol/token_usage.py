"""Reads token counts and quotas, for which most agents do not use the protocol's fields."""

from __future__ import annotations

from itertools import islice
from typing import Any

from acp_tui.protocol import values
from acp_tui.session import events as ev
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Cost, Quota

_NAMES = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cachedReadTokens",
    "reasoning_tokens": "thoughtTokens",
    "cachedInputTokens": "cachedReadTokens",
    "cacheWriteInputTokens": "cachedWriteTokens",
    "reasoningOutputTokens": "thoughtTokens",
}
"""The protocol's names for token counts, by the names that agents use in `_meta`."""
_OPENHANDS_METRICS = "openhands.dev/metrics"
_OPENHANDS_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")
_CLAUDE_QUOTA = "_claude/rateLimit"
_CLAUDE_QUOTA_NAMES = {
    "five_hour": "5-hour limit",
    "seven_day": "weekly limit",
    "seven_day_opus": "weekly limit for Opus",
    "seven_day_sonnet": "weekly limit for Sonnet",
    "overage": "extra usage",
}
MAX_COUNTS = 20
"""The maximum number of token counts to read per turn or per model."""
MAX_MODELS = 50
"""The maximum number of models to read per turn."""


def read_tokens(source: Any) -> dict[str, int]:
    """Return the token counts in an object, by their names in the protocol."""
    usage = values.obj(source)
    return {
        _NAMES.get(name, escape_line(name[:100])): count
        for name in islice(usage, MAX_COUNTS)
        if (count := values.integer(usage, name)) is not None and count >= 0
    }


def turn_tokens(answer: dict[str, Any]) -> dict[str, int]:
    """Return the token counts in the answer to a prompt. Gemini reports them only in `_meta.quota`."""
    return read_tokens(answer.get("usage")) or read_tokens(_quota(answer).get("token_count"))


def model_tokens(answer: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return the token counts by model in the answer to a prompt; empty unless the agent reports them."""
    found: dict[str, dict[str, int]] = {}
    for item in values.items(_quota(answer).get("model_usage"))[:MAX_MODELS]:
        source = values.obj(item)
        model = values.line(source, "model")
        if model is not None and (tokens := read_tokens(source.get("token_count"))):
            found[model] = tokens
    return found


def _quota(answer: dict[str, Any]) -> dict[str, Any]:
    """Return `_meta.quota`, in which Gemini reports tokens despite the name."""
    return values.obj(values.obj(answer.get("_meta")).get("quota"))


def read_metrics(meta: Any) -> ev.UsageChanged | None:
    """Return the tokens and the cost of the session that OpenHands reports with each update, if it does."""
    fields = values.obj(values.obj(meta).get("field_meta"))
    metrics = values.obj(fields.get(_OPENHANDS_METRICS))
    totals = read_tokens({name: metrics[name] for name in _OPENHANDS_COUNTS if name in metrics})
    if not any(totals.values()):
        return None
    amount = values.number(metrics, "cost")
    return ev.UsageChanged(cost=Cost(amount, "USD") if amount else None, totals=totals)


def read_quota(update: dict[str, Any]) -> Quota | None:
    """Return the usage limit that Claude Code reports in a `usage_update`; None if it reports none."""
    source = values.obj(values.obj(update.get("_meta")).get(_CLAUDE_QUOTA))
    if not source:
        return None
    kind = values.line(source, "rateLimitType") or "limit"
    share = values.number(source, "utilization")
    return Quota(
        _CLAUDE_QUOTA_NAMES.get(kind, kind.replace("_", " ")),
        status=values.line(source, "status"),
        share=share / 100 if share is not None and share > 1 else share,
        resets_at=values.number(source, "resetsAt"),
    )
