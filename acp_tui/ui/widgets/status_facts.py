"""What the status line may show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from acp_tui.session.usage_text import context_share, short_count
from acp_tui.ui.drawing.wrap import shorten

CONTEXT_WARNING = 0.85
"""The default of the setting `context_warning`, as a share of the context window."""

Phase = Literal["connecting", "loading", "idle", "working", "background", "asking", "cancelling", "dead"]


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Everything the status line may show. Texts are safe to display."""

    agent: str  # the agent's title
    title: str = ""  # the session's title, for the title of the window
    project: str = ""  # the name of the working directory
    branch: str = ""
    mode: str = ""  # the name of the agent's mode
    model: str = ""
    policy: str = ""  # the permission policy; empty if unknown, or in a replay
    acts_without_asking: bool = False  # the agent has edited files or run commands, and never asked
    used: int | None = None  # tokens in the context
    size: int | None = None
    context_warning: float = CONTEXT_WARNING  # the share of `size` from which the usage is marked
    queued: int = 0  # prompts in the queue
    queue_paused: bool = False
    tabs_asking: int = 0  # other tabs in which an agent waits for an answer
    cost: float | None = None
    currency: str = "USD"
    phase: Phase = "idle"
    phase_detail: str = ""  # the current step, why the agent ended, or advice if a cancel takes long
    since: float | None = None  # when the phase started
    failed: bool = False  # the last turn ended with an error
    plan_share: float | None = None  # the finished share of the turn's plan; None if nothing is finished
    retrying: str | None = None  # why the agent repeats a request to its model; None if it does not
    heard: str = ""  # describes the agent's last message
    heard_at: float | None = None


SILENCE_SECONDS = 60.0
"""After this many seconds without a message from the agent, the status line names the last one."""
MAX_REASON_WIDTH = 24
"""The maximum width of the reason for which an agent repeats a request."""
CANCEL_GRACE_SECONDS = 5.0
"""An agent that has not ended a cancelled turn after this many seconds is shown as not responding."""

Part = Literal[
    "agent",
    "project",
    "branch",
    "mark",
    "mode",
    "policy",
    "model",
    "context",
    "cost",
    "queue",
    "tabs",
    "phase",
]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the status line in one style."""

    text: str
    style: str = "dim"  # a field of `Palette`
    part: Part | None = None  # identifies the fact, for clicks


def context_piece(facts: StatusFacts) -> Piece:
    """Return how full the context window is, or how many tokens are used if its size is unknown."""
    used = facts.used or 0
    share = context_share(used, facts.size)
    if share is None:
        return Piece(f"ctx {short_count(used)}", "dim", "context")
    text = f"ctx {share:.0%} full" if share >= 1 else f"ctx {share:.0%}"
    if share >= facts.context_warning:
        return Piece(f"! {text}", "warning", "context")
    return Piece(text, "dim", "context")


def phase_piece(facts: StatusFacts, now: float) -> Piece:
    """Return what the agent is doing, and for how long."""
    since = facts.since if facts.since is not None else now
    elapsed = format_clock(now - since)
    match facts.phase:
        case "connecting" | "loading":
            text = facts.phase_detail or ("connecting" if facts.phase == "connecting" else "loading")
            waited = f" {elapsed}" if now - since >= 3 else ""
            return Piece(f"◐ {text}{waited}", "warning", "phase")
        case "working":
            return _working(facts, now, since)
        case "asking":
            return Piece("? waiting for your answer", "warning", "phase")
        case "cancelling":
            stuck = facts.phase_detail and now - since >= CANCEL_GRACE_SECONDS
            return Piece(f"⊘ {facts.phase_detail if stuck else f'stopping {elapsed}'}", "warning", "phase")
        case "dead":
            return Piece(f"✘ {facts.phase_detail or 'the agent has ended'}", "error", "phase")
        case "background":
            return Piece("● working in the background", "success", "phase")
    return Piece("○ idle", "dim", "phase")


def _working(facts: StatusFacts, now: float, since: float) -> Piece:
    """Return how long the turn has run.

    If the agent repeats a request to its model, return the reason as well. After a long silence, return
    instead how long the silence is and what the agent last sent, if anything.
    """
    if facts.retrying is not None:
        reason = f": {shorten(facts.retrying, MAX_REASON_WIDTH)}" if facts.retrying else ""
        return Piece(f"● retrying{reason} {format_clock(now - since)}", "warning", "phase")
    heard_at = max(facts.heard_at if facts.heard_at is not None else since, since)
    if now - heard_at < SILENCE_SECONDS:
        return Piece(f"● working {format_clock(now - since)}", "success", "phase")
    silence = format_clock(now - heard_at)
    if facts.heard and facts.heard_at is not None and facts.heard_at >= since:
        return Piece(f"● last heard: {facts.heard} · {silence} ago", "warning", "phase")
    return Piece(f"● nothing heard for {silence}", "warning", "phase")


def format_clock(seconds: float) -> str:
    """Format seconds as `0:12`, `3:05` or `1:02:03`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
