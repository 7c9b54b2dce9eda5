"""What the session and its turns used: context window, tokens, money, and the limits of the user's plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import add_notice, facts_changed
from acp_tui.session.state import Cost, TurnUsage, Usage
from acp_tui.session.usage_text import quota_words

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.record import Change
    from acp_tui.session.state import Level, Session

QUOTA_LEVELS: dict[str | None, Level] = {"allowed_warning": "warning", "rejected": "error"}
"""The levels of notices about limits, by the status that the agent reports. Other statuses add no notice."""
MAX_COUNTS = 20
"""The maximum number of token counts to keep per turn."""
MAX_QUOTAS = 20
"""The maximum number of plan limits to keep per session."""


def begin_turn_usage(session: Session, at: float) -> None:
    """Start to count the tokens and the cost of a turn."""
    cost = session.usage.cost
    before = cost.amount if cost is not None else None
    if before is None and session.reducer_state.is_new:
        before = 0.0
    totals = session.usage.totals
    session.turn_usages.append(TurnUsage(session.turn, at, cost_before=before, totals_before=totals))


def retrying(session: Session, event: ev.Retrying, _at: float) -> list[Change]:
    """Remember why the agent repeats a request, until the agent sends something else."""
    session.retrying = event.reason
    return facts_changed("retrying")


def usage_changed(session: Session, event: ev.UsageChanged, _at: float) -> list[Change]:
    """Update the context window and the cost, for the session and for the last turn.

    Agents can report these values even after the turn has ended.
    """
    before = session.usage
    session.usage = Usage(
        used=before.used if event.used is None else event.used,
        size=before.size if event.size is None else event.size,
        cost=before.cost if event.cost is None else event.cost,
        tokens=before.tokens,
        totals=before.totals if event.totals is None else event.totals,
    )
    if session.turn_usages:
        turn = session.turn_usages[-1]
        turn.used, turn.size = session.usage.used, session.usage.size
        if event.cost is not None:
            turn.cost = _turn_cost(turn, event.cost)
        if event.totals is not None:
            turn.tokens = session.usage.tokens = _turn_tokens(turn, event.totals)
    return facts_changed("usage")


def _turn_cost(turn: TurnUsage, total: Cost) -> Cost | None:
    """Return what a turn cost; None if the session's cost at the start of the turn is unknown.

    A `total` lower than at the start of the turn means that a restarted agent counts from zero again.
    """
    if turn.cost_before is None:
        return None
    if total.amount < turn.cost_before:
        turn.cost_before = 0.0
    return Cost(total.amount - turn.cost_before, total.currency)


def _turn_tokens(turn: TurnUsage, totals: dict[str, int]) -> dict[str, int]:
    """Return the tokens of a turn. If a count is lower than before, a restarted agent counts from zero."""
    if any(count < turn.totals_before.get(name, 0) for name, count in totals.items()):
        turn.totals_before = {}
    return {name: count - turn.totals_before.get(name, 0) for name, count in totals.items()}


def tokens_used(session: Session, event: ev.TokensUsed, _at: float) -> list[Change]:
    """Add the tokens of one model request to the token counts of the running turn."""
    if not session.turn_usages or not session.working:
        return []
    known = session.turn_usages[-1].tokens
    for name, count in event.tokens.items():
        if name in known or len(known) < MAX_COUNTS:
            known[name] = known.get(name, 0) + count
    return facts_changed("usage")


def note_turn_tokens(session: Session, event: ev.TurnEnded) -> None:
    """Store the turn's final token counts, if the agent sent any. They replace the counts so far."""
    if not session.turn_usages:
        return
    turn = session.turn_usages[-1]
    turn.tokens = event.tokens or turn.tokens
    turn.models = event.models
    if turn.tokens:
        session.usage.tokens = turn.tokens


def quota_changed(session: Session, event: ev.QuotaChanged, at: float) -> list[Change]:
    """Store how much of a limit is used, and add a notice when the limit becomes nearly or fully used up.

    At most `MAX_QUOTAS` limits are stored. Further ones are ignored.
    """
    quota = event.quota
    known = session.quotas.get(quota.name)
    if known is None and len(session.quotas) >= MAX_QUOTAS:
        return []
    session.quotas[quota.name] = quota
    level = QUOTA_LEVELS.get(quota.status)
    if level is None or (known is not None and known.status == quota.status):
        return facts_changed("usage")
    notice = add_notice(session, at, quota_words(quota, at), level=level, source="agent")
    return [*facts_changed("usage"), *notice]
