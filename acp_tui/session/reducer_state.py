"""What `reduce` has to remember beside the state that others read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.events import FileBeforeWrite
    from acp_tui.session.state import (
        Compaction,
        Elicitation,
        Message,
        Notice,
        Phase,
        Plan,
        RequestId,
        Session,
        ToolCall,
    )


@dataclass(slots=True)
class Replay:
    """A history that the agent replays, or may replay (`reduce.loading`)."""

    into: Session | None  # replayed into this one; None: into our session, which held nothing
    other: bool  # it is the history of another session than ours
    expected: bool  # `session/load` waits for its answer: all messages are history
    held: list[str]  # the prompts that our session held when the replay was asked for
    began: bool = False
    unchecked: bool = False  # a prompt was replayed since it was last compared with ours
    last_at: float = 0.0  # when the last piece came


@dataclass(slots=True)
class Bookkeeping:
    """What `reduce` remembers for itself from one event to the next; nobody else reads it."""

    message: Message | None = None  # the one that grows: nothing of another kind came since
    by_message_id: dict[tuple[type[Message], str], Message] = field(default_factory=dict)  # of this turn
    turn_began: int = 0  # where the turn's entries begin
    prompts: int = 0  # sent and not answered; more than one only with another client's log
    open_calls: dict[str, ToolCall] = field(default_factory=dict)
    echo: str = ""  # the prompt's text, which the agent may repeat
    echo_at: int | None = None  # how much of it came; None: nothing is expected (any more)
    opening: str | None = None  # `new`, `load` … while it waits for its answer
    phase_before: Phase = "connecting"  # … and the phase to return to when it fails
    restoring: bool = False  # the session was opened again: `settings` still holds the values from before
    replay: Replay | None = None  # until the first prompt after a load or resume
    waiting: Notice | None = None  # the line that says what is being waited for
    before_write: dict[RequestId, FileBeforeWrite] = field(default_factory=dict)
    written: set[tuple[int, str]] = field(default_factory=set)  # calls and files whose write they have shown
    told: dict[str, tuple[Notice, int]] = field(default_factory=dict)  # in this turn, and how often
    foreign: set[str] = field(default_factory=set)  # other sessions already spoken of
    rejected: set[RequestId] = field(default_factory=set)  # requests of which a line already says so
    elicitations: dict[str, Elicitation] = field(default_factory=dict)  # by the agent's name for them
    compactions: dict[str, Compaction] = field(default_factory=dict)
    plans: dict[str | None, Plan] = field(default_factory=dict)  # by id, the last of each
