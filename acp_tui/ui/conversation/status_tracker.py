"""Derives the content of the status line from the session."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.conversation.unasked_actions import UnaskedActions
from acp_tui.ui.widgets.status.status_facts import CONTEXT_WARNING, Phase, StatusFacts

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings
    from acp_tui.session.state import Session


BACKGROUND_SECONDS = 3.0
"""For this many seconds after an update outside a turn, the agent counts as working in the background."""


class StatusTracker:
    """Builds `StatusFacts` from the session, and from facts that only the screen knows and sets here."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.project = ""
        self.branch = ""
        self.policy = ""
        self.context_warning = CONTEXT_WARNING
        self.awaited = ""
        """What the session waits for, or what the user can do; empty if there is nothing to say."""
        self.stuck = ""
        """Why no session could be opened, and the key that helps, if any. Empty if nothing went wrong."""
        self.starting = False
        """True while the agent is being restarted; meanwhile, the session's phase is still "dead"."""
        self.tabs_asking = 0
        """The number of other tabs in which an agent waits for an answer."""
        self._unasked_actions = UnaskedActions()
        self._phase: Phase = "connecting"
        self._since: float | None = None

    def use_settings(self, settings: Settings) -> None:
        """Apply the setting `context_warning`, a percentage; 0 turns the warning off."""
        self.context_warning = settings.context_warning / 100 or math.inf

    def facts(self, session: Session, now: float, *, asking: bool) -> StatusFacts:
        """Return what the status line shows now. `asking`: a question waits for the user."""
        self._unasked_actions.update(session)
        stuck = session.phase == "connecting" and self.stuck
        phase = "dead" if stuck else _phase(session, now, asking=asking)
        if phase == "dead" and self.starting:
            phase = "connecting"
        if phase != self._phase or self._since is None:
            self._phase = phase
            self._since = session.turn_started if phase == "working" else now
        agent, usage = session.agent, session.usage
        return StatusFacts(
            agent=(agent.title or agent.name if agent else None) or self.agent,
            title=visible_line(session.title or ""),
            project=self.project,
            branch=self.branch,
            mode=_mode(session),
            model=_model(session),
            policy=self.policy,
            acts_without_asking=self._unasked_actions.unasked,
            used=usage.used,
            size=usage.size,
            context_warning=self.context_warning,
            queued=len(session.queue),
            queue_paused=session.queue_paused and bool(session.queue),
            tabs_asking=self.tabs_asking,
            cost=usage.cost.amount if usage.cost else None,
            currency=usage.cost.currency if usage.cost else "USD",
            phase=phase,
            phase_detail=stuck or self.awaited,
            since=self._since,
            failed=session.last_error is not None,
            plan_share=_plan_share(session),
            heard=session.heard or "",
            retrying=session.retrying if session.working else None,
            heard_at=session.heard_at,
        )


def _phase(session: Session, now: float, *, asking: bool) -> Phase:
    if session.phase == "prompting" and session.cancelling:
        return "cancelling"
    if session.phase in ("prompting", "idle") and asking:  # some agents ask outside of turns
        return "asking"
    if session.phase == "idle" and _works_in_background(session, now):
        return "background"
    return "working" if session.phase == "prompting" else session.phase


def _plan_share(session: Session) -> float | None:
    """Return the finished share of the turn's plan; None if there is no plan or nothing is finished."""
    plan = session.plan
    if plan is None or plan.turn != session.turn or not plan.items:
        return None
    finished = sum(item.status == "completed" for item in plan.items)
    return finished / len(plan.items) if finished else None


def _works_in_background(session: Session, now: float) -> bool:
    """Return True if the agent has just sent an update outside a turn, or one of its subagents is running."""
    if session.background_at is not None and now - session.background_at < BACKGROUND_SECONDS:
        return True
    return any(subagent.is_running for subagent in session.subagents.values())


def _mode(session: Session) -> str:
    """Return the name of the mode; the id if the agent sent no name."""
    mode = next((mode.name for mode in session.modes if mode.id == session.mode), None)
    return mode if mode is not None else visible_line(session.mode or "")


def _model(session: Session) -> str:
    option = session.model_option
    choices, current = (option.choices, option.current) if option else (session.models, session.model)
    return next(
        (choice.name for choice in choices if choice.value == current), visible_line(str(current or ""))
    )
