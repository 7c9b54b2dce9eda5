"""A history that the agent replays when a session is opened again.

By the specification `session/load` replays and `session/resume` does not. Gemini answers `session/load` after
one chunk and replays the rest afterwards; fast-agent replays on `session/resume`. So pieces of a history are
expected from the request until the next prompt is sent.

Where we hold the conversation already (the agent was restarted, or the session comes from our log), the
replay is folded into a session of its own. Ours stays, because it knows more (permissions, notices, times),
unless the replay has further prompts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.change import Change
from acp_tui.session.reduce.entries import end_message, fact_changed
from acp_tui.session.reduce.tools import close_open_calls
from acp_tui.session.state import AnnotatedText, Message, Replay, Session, UserMessage
from acp_tui.session.text import GrowingText

LATE_PAUSE = 2.0
"""Seconds: what the agent says so long after the last prompt we know was replayed is new."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.events import Event

    Handler = Callable[[Session, Event, float], list[Change]]


def begin(session: Session, how: str, session_id: str | None) -> None:
    """`session/load` or `session/resume` was sent."""
    holds = any(isinstance(entry, Message) for entry in session.entries)
    session.reducer_state.replay = Replay(
        into=Session(phase="loading") if holds else None,
        other=holds and session.session_id is not None and session.session_id != session_id,
        expected=how == "load",
        held=_prompts(session),
    )


def is_history(session: Session, replay: Replay, event: Event, at: float) -> bool:
    """Return True if an event that may be part of a history is part of the replay."""
    if _happens_now(session, event):
        return False
    if replay.expected or _is_users(event):  # nobody has sent a prompt since
        return True
    return replay.began and not (session.history_complete and at - replay.last_at > LATE_PAUSE)


def _happens_now(session: Session, event: Event) -> bool:
    """Return True for a request of the agent, the user's own command, and a terminal that still runs."""
    if isinstance(event, ev.ToolCallChanged):
        return event.asked
    if isinstance(event, ev.TerminalCreated) and event.owner == "user":
        return True
    if isinstance(event, (ev.TerminalCreated, ev.TerminalOutput, ev.TerminalExited)):
        known = session.terminals.get(event.terminal_id)
        return known is not None and known.ended_at is None
    return False


def _is_users(event: Event) -> bool:
    return isinstance(event, (ev.TextChunk, ev.ContentChunk)) and event.speaker == "user"


def take(session: Session, replay: Replay, handler: Handler, event: Event, at: float) -> list[Change]:
    """A piece of the replayed history."""
    replay.began, replay.last_at = True, at
    session.replaying = True
    if replay.into is None:
        return _show(session, handler, event, at)
    changes = _take_plan(session, replay.into, handler, event, at)
    if _is_users(event):
        replay.unchecked = True  # more of it may come
    elif replay.unchecked and not replay.expected:
        replay.unchecked = False
        changes += _choose(session, replay)
    return changes


def _show(session: Session, handler: Handler, event: Event, at: float) -> list[Change]:
    """We hold nothing: the piece goes into our session, in the same way before and after the answer."""
    phase, session.phase = session.phase, "loading"
    changes = handler(session, event, at)
    session.phase = phase
    session.replayed = session.turn
    return changes


def _take_plan(session: Session, into: Session, handler: Handler, event: Event, at: float) -> list[Change]:
    """The replayed plan is a fact, and facts always apply."""
    plan = into.plan
    handler(into, event, at)
    if into.plan is plan:
        return []
    session.plan = into.plan
    return [fact_changed("plan")]


def answered(session: Session) -> list[Change]:
    """The load or resume was answered; more of the history may follow."""
    replay = session.reducer_state.replay
    if replay is None:
        return []
    session.replaying = False
    loaded, replay.expected = replay.expected, False
    session.history_complete = not loaded
    if replay.into is None:
        session.replayed = session.turn
        return []
    return _choose(session, replay)


def _choose(session: Session, replay: Replay) -> list[Change]:
    """Take the replay if it knows more than we do."""
    assert replay.into is not None
    last, ahead = _compare(replay.held, _prompts(replay.into))
    session.history_complete = session.history_complete or last
    if not (replay.other or ahead):
        return []
    into, replay.into = replay.into, None
    _take_over(session, into)
    return [Change("reset"), fact_changed("turn")]


def _compare(held: list[str], replayed: list[str]) -> tuple[bool, bool]:
    """Was our last prompt replayed, and does the replay have further ones?

    Some agents do not replay all prompts, or not in the same words.
    """
    place, found = 0, False
    for text in held:
        found = text in replayed[place:]
        if found:
            place = replayed.index(text, place) + 1
    return found, len(replayed) > (place if found else len(held))


def _take_over(session: Session, replay: Session) -> None:
    memory = session.reducer_state
    session.entries = replay.entries
    session.tool_calls = replay.tool_calls
    session.terminals = replay.terminals
    session.terminal_calls = replay.terminal_calls
    session.turn = session.replayed = replay.turn
    memory.message = replay.reducer_state.message
    memory.by_message_id = replay.reducer_state.by_message_id
    memory.open_calls = replay.reducer_state.open_calls
    memory.compactions = replay.reducer_state.compactions
    memory.plans = replay.reducer_state.plans
    memory.turn_began = replay.reducer_state.turn_began
    memory.repeated.clear()


def close(session: Session, at: float) -> list[Change]:
    """End the replay: a prompt was sent."""
    replay, session.reducer_state.replay = session.reducer_state.replay, None
    session.replaying, session.history_complete = False, True
    if replay is None or replay.into is not None or not replay.began:
        return []
    return [*end_message(session, at), *close_open_calls(session, "unfinished", at)]


def give_up(session: Session) -> None:
    """Drop the replay: the load failed, or the agent is gone."""
    session.reducer_state.replay = None
    session.replaying, session.history_complete = False, True


def _prompts(session: Session) -> list[str]:
    """The texts of all prompts that a person wrote, without differences in white space."""
    messages = (entry for entry in session.entries if isinstance(entry, UserMessage))
    return [" ".join(_visible_text(message).split()) for message in messages]


def _visible_text(message: UserMessage) -> str:
    texts = (part for part in message.parts if isinstance(part, GrowingText))
    return "".join(
        str(part) for part in texts if not (isinstance(part, AnnotatedText) and part.for_assistant_only)
    )
