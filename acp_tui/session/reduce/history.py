"""A history that the agent replays when a session is reopened.

According to the protocol, `session/load` replays it and `session/resume` does not. But Gemini answers
`session/load` after one chunk and replays the rest afterwards, and fast-agent replays after `session/resume`.
So a replay is expected from the request until the next prompt is sent.

If the conversation is known already (the agent was restarted, or the session was read from its log), the
replay is collected in a separate session. The replay replaces the known entries only if it has more prompts
or is of another session, because the known entries contain more details (permissions, notices, times).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.change import Change
from acp_tui.session.reduce.entries import end_message, fact_changed
from acp_tui.session.reduce.tool_calls import close_open_calls
from acp_tui.session.state import AnnotatedText, Message, Replay, Session, UserMessage
from acp_tui.session.text import GrowingText

LATE_PAUSE = 2.0
"""After this many seconds without events, a replay that has reached the last known prompt is over."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.events import Event

    Handler = Callable[[Session, Event, float], list[Change]]


def begin(session: Session, how: str, session_id: str | None) -> None:
    """Expect a replay: `session/load` or `session/resume` was sent."""
    has_messages = any(isinstance(entry, Message) for entry in session.entries)
    session.reducer_state.replay = Replay(
        into=Session(phase="loading") if has_messages else None,
        other=has_messages and session.session_id is not None and session.session_id != session_id,
        expected=how == "load",
        held=_prompts(session),
    )


def is_history(session: Session, replay: Replay, event: Event, at: float) -> bool:
    """Return True if an event is part of the replay. Call only for events with `EventRule.in_history`."""
    if _is_live(session, event):
        return False
    if replay.expected or _is_of_user(event):  # no prompt was sent since the request
        return True
    return replay.began and not (session.history_complete and at - replay.last_at > LATE_PAUSE)


def _is_live(session: Session, event: Event) -> bool:
    """Return True for events that no replay contains: permissions, the user's commands, running terminals."""
    if isinstance(event, ev.ToolCallChanged):
        return event.asked
    if isinstance(event, ev.TerminalCreated) and event.owner == "user":
        return True
    if isinstance(event, (ev.TerminalCreated, ev.TerminalOutput, ev.TerminalExited)):
        known = session.terminals.get(event.terminal_id)
        return known is not None and known.ended_at is None
    return False


def _is_of_user(event: Event) -> bool:
    return isinstance(event, (ev.TextChunk, ev.ContentChunk)) and event.speaker == "user"


def add(session: Session, replay: Replay, handler: Handler, event: Event, at: float) -> list[Change]:
    """Apply an event of the replay, to the session itself or to the collected replay."""
    replay.began, replay.last_at = True, at
    session.replaying = True
    if replay.into is None:
        return _apply_as_loading(session, handler, event, at)
    changes = _apply_to_replay(session, replay.into, handler, event, at)
    if _is_of_user(event):
        replay.unchecked = True  # the prompt may not be complete yet
    elif replay.unchecked and not replay.expected:
        replay.unchecked = False
        changes += _replace_if_longer(session, replay)
    return changes


def _apply_as_loading(session: Session, handler: Handler, event: Event, at: float) -> list[Change]:
    """Apply an event to the session itself, in the phase "loading" even if loading has ended."""
    phase, session.phase = session.phase, "loading"
    changes = handler(session, event, at)
    session.phase = phase
    session.replayed = session.turn
    return changes


def _apply_to_replay(
    session: Session, into: Session, handler: Handler, event: Event, at: float
) -> list[Change]:
    """Apply an event to the collected replay. A plan also becomes the session's current plan."""
    plan = into.plan
    handler(into, event, at)
    if into.plan is plan:
        return []
    session.plan = into.plan
    return [fact_changed("plan")]


def answered(session: Session) -> list[Change]:
    """Handle the answer to `session/load` or `session/resume`. More of the history may follow."""
    replay = session.reducer_state.replay
    if replay is None:
        return []
    session.replaying = False
    loaded, replay.expected = replay.expected, False
    session.history_complete = not loaded
    if replay.into is None:
        session.replayed = session.turn
        return []
    return _replace_if_longer(session, replay)


def _replace_if_longer(session: Session, replay: Replay) -> list[Change]:
    """Replace the known entries by those of the replay, if it has more prompts or is of another session."""
    assert replay.into is not None
    has_last, has_more = _compare(replay.held, _prompts(replay.into))
    session.history_complete = session.history_complete or has_last
    if not (replay.other or has_more):
        return []
    into, replay.into = replay.into, None
    _replace_entries(session, into)
    return [Change("reset"), fact_changed("turn")]


def _compare(held: list[str], replayed: list[str]) -> tuple[bool, bool]:
    """Return whether the last known prompt was replayed, and whether more prompts were replayed than known.

    Some agents do not replay all prompts, or change their text.
    """
    start, found = 0, False
    for text in held:
        found = text in replayed[start:]
        if found:
            start = replayed.index(text, start) + 1
    return found, len(replayed) > (start if found else len(held))


def _replace_entries(session: Session, replay: Session) -> None:
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
    """End the replay, because a prompt was sent."""
    replay, session.reducer_state.replay = session.reducer_state.replay, None
    session.replaying, session.history_complete = False, True
    if replay is None or replay.into is not None or not replay.began:
        return []
    return [*end_message(session, at), *close_open_calls(session, "unfinished", at)]


def give_up(session: Session) -> None:
    """Drop the replay, because the load failed or the agent exited."""
    session.reducer_state.replay = None
    session.replaying, session.history_complete = False, True


def _prompts(session: Session) -> list[str]:
    """Return the texts of all prompts in the session, with normalised whitespace."""
    messages = (entry for entry in session.entries if isinstance(entry, UserMessage))
    return [" ".join(_visible_text(message).split()) for message in messages]


def _visible_text(message: UserMessage) -> str:
    texts = (part for part in message.parts if isinstance(part, GrowingText))
    return "".join(
        str(part) for part in texts if not (isinstance(part, AnnotatedText) and part.for_assistant_only)
    )
