"""Reduces plan and compaction events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import add_entry, fact_changed, out_of_phase, touch
from acp_tui.session.state import Compaction, Plan
from acp_tui.session.text import GrowingText

if TYPE_CHECKING:
    from acp_tui.session.change import Change
    from acp_tui.session.events import CompactionChanged, CompactionChunk, PlanChanged
    from acp_tui.session.state import PlanItem, Session


def plan_changed(session: Session, event: PlanChanged, at: float) -> list[Change]:
    """Replace the current plan: update its entry if that is from this turn, otherwise add an entry."""
    if event.removed or not (event.items or event.markdown or event.uri):
        return _clear_plan(session, event)
    plans = session.reducer_state.plans
    known = plan = plans.get(event.plan_id)
    if known is not None and session.plan is known and _content(known) == _content(event):
        return []  # some agents repeat the plan with every prompt
    if plan is not None and plan.turn == session.turn:
        changes = [touch(plan)]
    else:
        plan = plans[event.plan_id] = Plan(id=0, at=at, plan_id=event.plan_id, stray=out_of_phase(session))
        changes = [*add_entry(session, plan, at), *([touch(known)] if known is not None else [])]
    plan.items, plan.markdown, plan.uri = event.items, event.markdown, event.uri
    session.plan = plan
    return [*changes, fact_changed("plan")]


def _content(plan: Plan | PlanChanged) -> tuple[list[PlanItem], str | None, str | None]:
    return plan.items, plan.markdown, plan.uri


def _clear_plan(session: Session, event: PlanChanged) -> list[Change]:
    """Forget a plan that the agent removed or emptied. The transcript keeps its entry."""
    plan = session.reducer_state.plans.pop(event.plan_id, None)
    if plan is None:
        return []
    plan.removed = event.removed
    if session.plan is plan:
        session.plan = None
    return [touch(plan), fact_changed("plan")]


def compaction_changed(session: Session, event: CompactionChanged, at: float) -> list[Change]:
    """Update the state of a compaction."""
    compaction, changes = _compaction(session, event.compaction_id, at)
    if event.status is not None:
        compaction.status = event.status
    if event.summary is not None:
        compaction.summary = GrowingText(event.summary)
    if event.error is not None:
        compaction.error = event.error
    return [*changes, touch(compaction)]


def compaction_chunk(session: Session, event: CompactionChunk, at: float) -> list[Change]:
    """Append text to the summary of a compaction."""
    compaction, changes = _compaction(session, event.compaction_id, at)
    compaction.summary.append(event.text)
    return [*changes, touch(compaction)]


def _compaction(session: Session, compaction_id: str, at: float) -> tuple[Compaction, list[Change]]:
    known = session.reducer_state.compactions.get(compaction_id)
    if known is not None:
        return known, []
    compaction = Compaction(id=0, at=at, compaction_id=compaction_id)
    session.reducer_state.compactions[compaction_id] = compaction
    return compaction, add_entry(session, compaction, at)
