"""Loading a session whose history we may hold already (the agent was restarted in place).

The agent replays all of it; nobody wants to see it twice. So the replay is folded into a session of its own,
and at the end ours stays, which knows more (permissions, notices, times), unless the replay has more prompts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.change import Change
from acp_tui.session.reduce.entries import fact
from acp_tui.session.state import Message, Session, UserMessage

_MESSAGES = (ev.TextChunk, ev.ContentChunk, ev.PlanChanged, ev.CompactionChanged, ev.CompactionChunk)

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.events import Event

    Reduce = Callable[[Session, Event, float], list[Change]]


def begin(session: Session, session_id: str | None) -> None:
    """`session/load` was sent."""
    books = session.books
    if any(isinstance(entry, Message) for entry in session.entries):
        books.replay = Session(phase="loading")
        books.replays_other = session.session_id is not None and session.session_id != session_id


def is_history(session: Session, event: Event) -> bool:
    """Is this a piece of the replay? Not what the agent asks now, nor what a live terminal does."""
    if isinstance(event, ev.ToolCallChanged):
        return not event.asked
    if isinstance(event, (ev.TerminalCreated, ev.TerminalOutput, ev.TerminalExited)):
        if isinstance(event, ev.TerminalCreated) and event.owner == "user":
            return False
        known = session.terminals.get(event.terminal_id)
        return known is None or known.ended_at is not None
    return isinstance(event, _MESSAGES)


def into_replay(session: Session, replay: Session, reduce: Reduce, event: Event, at: float) -> list[Change]:
    """A piece of the replayed history. Its plan is a fact, and facts always apply."""
    plan = replay.plan
    reduce(replay, event, at)
    if replay.plan is plan:
        return []
    session.plan = replay.plan
    return [fact("plan")]


def finish(session: Session) -> list[Change]:
    """The load was answered: choose."""
    books = session.books
    replay, books.replay = books.replay, None
    if replay is None:
        session.replayed = session.turn
        return []
    if not (books.replays_other or _prompts(replay) > _prompts(session)):
        return []
    session.entries = replay.entries
    session.tool_calls = replay.tool_calls
    session.terminals = replay.terminals
    session.terminal_calls = replay.terminal_calls
    session.turn = session.replayed = replay.turn
    books.message = replay.books.message
    books.by_message_id = replay.books.by_message_id
    books.open_calls = replay.books.open_calls
    books.compactions = replay.books.compactions
    books.plans = replay.books.plans
    books.turn_began = replay.books.turn_began
    books.told.clear()
    return [Change("reset"), fact("turn")]


def give_up(session: Session) -> None:
    """The load failed: what came of it was no history."""
    session.books.replay = None


def _prompts(session: Session) -> int:
    return sum(isinstance(entry, UserMessage) for entry in session.entries)
