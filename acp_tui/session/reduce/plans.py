"""Plans, and compactions of the agent's context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.reduce.entries import add_entry, facts_changed, out_of_phase, touch
from acp_tui.session.state import Compaction, Content, Plan, PlanItem, Session

if TYPE_CHECKING:
    from acp_tui.session.events import CompactionChanged, CompactionChunk, PlanChanged
    from acp_tui.session.record import Change


def plan_changed(session: Session, event: PlanChanged, at: float) -> list[Change]:
    """Replace the current plan.

    If a plan with the same id was added in this turn, update its entry; otherwise add an entry. Forget a plan
    that is removed or empty. Do nothing if the plan is equal to the current one.
    """
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
        replaced = [known] if known is not None else []
        if (
            session.plan is not None and session.plan.turn < session.turn
        ):  # the plans of earlier turns fold now
            replaced = [one for one in plans.values() if one is not plan] + replaced
        changes = [*add_entry(session, plan, at), *map(touch, replaced)]
    plan.items, plan.markdown, plan.uri = event.items, event.markdown, event.uri
    session.plan = plan
    return [*changes, *facts_changed("plan")]


def _content(plan: Plan | PlanChanged) -> tuple[list[PlanItem], str | None, str | None]:
    return plan.items, plan.markdown, plan.uri


def _clear_plan(session: Session, event: PlanChanged) -> list[Change]:
    """Forget a plan that the agent removed or emptied. The plan's entry stays in the transcript."""
    plan = session.reducer_state.plans.pop(event.plan_id, None)
    if plan is None:
        return []
    plan.removed = event.removed
    if session.plan is plan:
        session.plan = None
    return [touch(plan), *facts_changed("plan")]


def compaction_changed(session: Session, event: CompactionChanged, at: float) -> list[Change]:
    compaction, changes = _compaction(session, event.compaction_id, at)
    if event.status is not None:
        compaction.status = event.status
    if event.summary is not None:
        compaction.parts = []
        for content in event.summary:
            _append(compaction, content.text if content.kind == "text" else "", content)
    if event.error is not None:
        compaction.error = event.error or None
    if event.tokens_before is not None:
        compaction.tokens_before = event.tokens_before
    if event.tokens_after is not None:
        compaction.tokens_after = event.tokens_after
    return [*changes, touch(compaction)]


def compaction_chunk(session: Session, event: CompactionChunk, at: float) -> list[Change]:
    compaction, changes = _compaction(session, event.compaction_id, at)
    _append(compaction, event.text, event.content)
    return [*changes, touch(compaction)]


def _append(compaction: Compaction, text: str, content: Content | None) -> None:
    if content is not None and content.kind != "text":
        compaction.parts.append(content)
        return
    if not (compaction.parts and isinstance(compaction.parts[-1], GrowingText)):
        compaction.parts.append(GrowingText())
    last = compaction.parts[-1]
    assert isinstance(last, GrowingText)
    last.append(text)


def end_compactions(session: Session) -> list[Change]:
    """Mark running compactions as cancelled, because the agent's process has ended."""
    running = [one for one in session.reducer_state.compactions.values() if one.status == "in_progress"]
    for compaction in running:
        compaction.status = "cancelled"
    return [touch(compaction) for compaction in running]


def _compaction(session: Session, compaction_id: str, at: float) -> tuple[Compaction, list[Change]]:
    known = session.reducer_state.compactions.get(compaction_id)
    if known is not None:
        return known, []
    compaction = Compaction(id=0, at=at, compaction_id=compaction_id)
    session.reducer_state.compactions[compaction_id] = compaction
    return compaction, add_entry(session, compaction, at)
