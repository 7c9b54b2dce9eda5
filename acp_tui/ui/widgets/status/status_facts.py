"""What the status line may show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
