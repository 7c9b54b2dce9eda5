"""Derives the content of the status line from the session."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Entry, Notice, Permission, Session, ToolCall
from acp_tui.ui.widgets.status_line import CONTEXT_WARNING, Phase, StatusFacts

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings


ACTING_KINDS = frozenset({"edit", "delete", "move", "execute"})
ANSWER_SOURCES = frozenset({"you", "rule", "policy"})
"""The sources of notices that report how a permission request was decided."""
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
        self.retry_at: float | None = None
        """When acp-tui connects again by itself, in seconds since 1970; None if it does not."""
        self.tabs_asking = 0
        """The number of other tabs in which an agent waits for an answer."""
        self._unasked_actions = ActedWithoutAsking()
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
        if self.retry_at is not None:
            stuck, phase = False, "dead"
        if phase != self._phase or self._since is None:
            self._phase = phase
            self._since = session.turn_started if phase == "working" else now
        agent, usage = session.agent, session.usage
        return StatusFacts(
            agent=(agent.title or agent.name if agent else None) or self.agent,
            title=escape_line(session.title or ""),
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
            retry_at=self.retry_at,
            failed=session.last_error is not None,
            plan_share=_plan_share(session),
            heard=session.heard or "",
            retrying=session.retrying if session.working else None,
            heard_at=session.heard_at,
        )


class ActedWithoutAsking:
    """Tracks whether the agent has acted, and whether it ever asked for permission.

    `update` checks only new entries and unfinished tool calls.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] | None = None
        self._checked_counts: dict[str, int] = {}  # the number of entries checked, by subagent; "": the agent
        self._open_calls: list[ToolCall] = []
        self._acted = False
        self._asked = False

    @property
    def unasked(self) -> bool:
        """True if the agent has acted without ever asking for permission."""
        return self._acted and not self._asked

    def update(self, session: Session) -> None:
        """Check new entries.

        Only completed calls count as actions: some agents announce a call before they ask for permission.
        """
        if session.entries is not self._entries:  # another session, or its history was loaded again
            self._entries, self._checked_counts, self._open_calls = session.entries, {}, []
            self._acted = self._asked = False
        self._check("", self._entries)
        for key, subagent in session.subagents.items():
            self._check(key, subagent.session.entries)
        self._acted |= any(_has_acted(call, session) for call in self._open_calls)
        self._open_calls = [call for call in self._open_calls if not call.done]

    def _check(self, key: str, entries: list[Entry]) -> None:
        """Note the tool calls and requests in new entries. `key` is the subagent, or empty for the agent."""
        for entry in entries[self._checked_counts.get(key, 0) :]:
            if isinstance(entry, ToolCall):
                self._open_calls.append(entry)
            elif _is_decision(entry):
                self._asked = True
        self._checked_counts[key] = len(entries)


def _is_decision(entry: Entry) -> bool:
    """Return True if the entry is a permission request, or reports a decision (see `ANSWER_SOURCES`)."""
    return isinstance(entry, Permission) or (isinstance(entry, Notice) and entry.source in ANSWER_SOURCES)


def _has_acted(call: ToolCall, session: Session) -> bool:
    """Return True if the call is a completed action.

    Calls in loaded history do not count, because the history lacks the permission requests.
    """
    in_history = session.phase == "loading" or 0 < call.turn <= session.replayed
    return not in_history and call.status == "completed" and call.kind in ACTING_KINDS


def _phase(session: Session, now: float, *, asking: bool) -> Phase:
    if session.phase == "prompting" and session.cancelling:
        return "cancelling"
    if session.phase in ("prompting", "idle") and asking:  # some agents ask outside of turns
        return "asking"
    if session.phase == "prompting" and session.requires_action:
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
    """Return True if the agent reports background work, or has just sent an update outside a turn.

    A running subagent counts as well.
    """
    if session.background_calls or session.background_terminals:
        return True
    if session.background_at is not None and now - session.background_at < BACKGROUND_SECONDS:
        return True
    return any(subagent.is_running for subagent in session.subagents.values())


def _mode(session: Session) -> str:
    """Return the name of the mode; the id if the agent sent no name."""
    mode = next((mode.name for mode in session.modes if mode.id == session.mode), None)
    return mode if mode is not None else escape_line(session.mode or "")


def _model(session: Session) -> str:
    option = session.model_option
    choices, current = (option.choices, option.current) if option else (session.models, session.model)
    return next(
        (choice.name for choice in choices if choice.value == current), escape_line(str(current or ""))
    )
