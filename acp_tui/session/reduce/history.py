"""A history that the agent replays when a session is reopened.

According to the protocol, `session/load` replays the history and `session/resume` does not. But Gemini
answers `session/load` after one chunk and replays the rest afterwards, and fast-agent replays after
`session/resume`. So a replay is expected from the request until the next prompt is sent.

If the conversation is known already (the agent was restarted, or the session was read from its log), the
replay is collected in a separate session and compared with the known entries. The known entries stay, because
they contain more details (permissions, notices, times). Prompts that only the replay contains are appended
if they follow the last known prompt. The replay replaces the known entries in two cases only: if it lacks the
last known prompt but has more prompts than are known, or if it belongs to another session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from acp_tui.session import events as ev
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.record import Change
from acp_tui.session.reduce.entries import add_notice, end_message, facts_changed
from acp_tui.session.reduce.tool_calls import close_open_calls
from acp_tui.session.state import AnnotatedText, Entry, Message, Replay, Session, TurnEnd, UserMessage

LATE_PAUSE = 2.0
"""The longest pause in a replay, in seconds, once all expected history has arrived."""
REPLAYED_NOTHING = "The agent did not replay the history: it may not remember the conversation above"

if TYPE_CHECKING:
    from acp_tui.session.events import Event

    AnyEntry = TypeVar("AnyEntry", bound=Entry)
    Handler = Callable[[Session, Event, float], list[Change]]


def begin(session: Session, how: str, session_id: str | None) -> None:
    """Expect a replay from now on. Called when `session/load` or `session/resume` is sent."""
    has_messages = any(isinstance(entry, Message) for entry in session.entries)
    session.reducer_state.replay = Replay(
        into=Session(phase="loading") if has_messages else None,
        other=has_messages and session.session_id is not None and session.session_id != session_id,
        is_load=how == "load",
        expected=how == "load",
        held=_prompts(session),
    )


def is_history(session: Session, replay: Replay, event: Event, at: float) -> bool:
    """Return True if an event is part of the replay.

    Call this only for events whose `EventRule.in_history` is True.
    """
    if _is_live(session, event):
        return False
    if isinstance(event, ev.OtherSessionUpdate):  # subagents may work at any time
        return replay.expected
    # Text of the user is history: once acp-tui sends a prompt, there is no replay any more.
    if replay.expected or _is_of_user(event):
        return True
    return replay.began and not (session.history_complete and at - replay.last_at > LATE_PAUSE)


def _is_live(session: Session, event: Event) -> bool:
    """Return True for events that no replay contains: permissions, the user's commands, running terminals."""
    if isinstance(event, ev.ToolCallChanged):
        return event.asked
    if isinstance(event, (ev.OtherSessionUpdate, ev.InSubagent)):
        return _is_live(session, event.inner)
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
        changes += _use_more_prompts(session, replay, at)
    return changes


def _apply_as_loading(session: Session, handler: Handler, event: Event, at: float) -> list[Change]:
    """Apply a replayed event to the session itself. The session's phase is "loading" in the meantime."""
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
    assert session.reducer_state.replay is not None
    session.reducer_state.replay.changes = handler(into, event, at)
    if into.plan is plan:
        return []
    session.plan = into.plan
    return facts_changed("plan")


def answered(session: Session, at: float) -> list[Change]:
    """Handle the answer to `session/load` or `session/resume`. Parts of the history can follow later."""
    replay = session.reducer_state.replay
    if replay is None:
        return []
    session.replaying = False
    loaded, replay.expected = replay.expected, False
    session.history_complete = not loaded
    if replay.into is None:
        session.replayed = session.turn
        return []
    return _use_more_prompts(session, replay, at)


def _use_more_prompts(session: Session, replay: Replay, at: float, *, complete: bool = False) -> list[Change]:
    """Append the prompts that only the replay has, or replace the known entries.

    The module's docstring says when prompts are appended, and when entries are replaced.
    """
    assert replay.into is not None
    _scan(replay, replay.into.entries, complete=complete)
    has_last = replay.matched == len(replay.held)
    session.history_complete = session.history_complete or (has_last and bool(replay.prompts))
    into, first_new = replay.into, replay.first_new
    if replay.other or (not has_last and replay.prompts > len(replay.held)):
        replay.into = None
        _replace_entries(session, into)
    elif has_last and first_new is not None:
        replay.into = None
        changes = add_notice(session, at, "From here on, the session was continued elsewhere")
        return [*changes, *_append_entries(session, into, first_new)]
    else:
        return []
    return [Change("reset"), *facts_changed("turn")]


def _scan(replay: Replay, entries: list[Entry], *, complete: bool) -> None:
    """Look for the known prompts among those entries of a replay that have not been scanned yet.

    Some agents leave out prompts, or change the text of prompts. A prompt at the end of the entries is
    scanned only if the replay is complete, because more text of the prompt can follow.
    """
    end = len(entries)
    if not complete and entries and isinstance(entries[-1], UserMessage):
        end -= 1
    for index in range(replay.scanned, end):
        entry = entries[index]
        if not isinstance(entry, UserMessage):
            continue
        replay.prompts += 1
        try:
            replay.matched = replay.held.index(_prompt_text(entry), replay.matched) + 1
            replay.first_new = None
        except ValueError:
            replay.first_new = index if replay.first_new is None else replay.first_new
    replay.scanned = end


def _replace_entries(session: Session, replay: Session) -> None:
    session.entries = replay.entries
    session.tool_calls = replay.tool_calls
    session.terminals = replay.terminals
    session.terminal_calls = replay.terminal_calls
    session.subagents = replay.subagents
    session.reducer_state.call_owners.clear()
    session.reducer_state.session_messages.clear()
    session.reducer_state.foreign = replay.reducer_state.foreign
    session.turn = session.replayed = replay.turn
    session.turn_usages = []  # the numbers of the turns have changed
    session.forgotten = 0
    _continue_replay(session, replay)


def _append_entries(session: Session, replay: Session, first: int) -> list[Change]:
    """Append the entries of a replay from the index `first` on. The entry at `first` must be a prompt."""
    entries = replay.entries[first:]
    shift = session.turn + 1 - entries[0].turn
    for entry in entries:
        entry.id = len(session.entries)
        entry.turn += shift
        session.entries.append(entry)
    # The known tool calls and terminals stay: they contain more details than the replayed ones.
    session.tool_calls |= _only(entries, replay.tool_calls)
    session.terminals |= _only(entries, replay.terminals)
    session.terminal_calls |= _only(entries, replay.terminal_calls)
    replay.reducer_state.open_calls = _only(entries, replay.reducer_state.open_calls)
    session.subagents = replay.subagents | session.subagents
    session.turn = session.replayed = replay.turn + shift
    _continue_replay(session, replay)
    return [Change("reset"), *facts_changed("turn")]


def _only(entries: list[Entry], by_id: dict[str, AnyEntry]) -> dict[str, AnyEntry]:
    """Return the items of `by_id` whose values are among the entries."""
    objects = set(map(id, entries))
    return {key: entry for key, entry in by_id.items() if id(entry) in objects}


def _continue_replay(session: Session, replay: Session) -> None:
    """Let the next events of the replay extend the entries that were taken from the replay."""
    memory = session.reducer_state
    memory.message = replay.reducer_state.message
    memory.by_message_id = replay.reducer_state.by_message_id
    memory.open_calls = replay.reducer_state.open_calls
    memory.compactions = replay.reducer_state.compactions
    memory.plans = replay.reducer_state.plans
    memory.call_owners = replay.reducer_state.call_owners | memory.call_owners
    memory.session_messages = replay.reducer_state.session_messages | memory.session_messages
    memory.turn_began = len(session.entries)
    memory.repeated.clear()


def history_completed(session: Session, _event: ev.HistoryCompleted, at: float) -> list[Change]:
    """Compare the known prompts with the complete replay of `session/load`.

    Warn if the replay has fewer prompts, and lacks prompts of completed turns.
    """
    replay = session.reducer_state.replay
    if replay is None or replay.into is None or not replay.is_load:
        return []
    completed = _completed_prompts(session)
    if not replay.began:
        if not completed:
            return []
        session.forgotten = len(session.entries)
        return add_notice(session, at, REPLAYED_NOTHING, level="warning")
    if changes := _use_more_prompts(session, replay, at, complete=True):
        return changes
    if not replay.prompts:  # OpenHands never replays prompts: nothing tells whether any was lost
        return []
    known = [entry for entry in session.entries if isinstance(entry, UserMessage)]
    unmatched = {prompt.id for prompt in known[replay.matched :]}
    missing = sum(prompt.id in unmatched for prompt in completed)
    if not missing or replay.prompts >= len(replay.held):
        return []
    if missing == len(completed):
        what = "all prompts"
    else:
        what = "the last prompt" if missing == 1 else f"the last {missing:,} prompts"
    text = f"The agent's history is missing {what} from this transcript"
    return add_notice(session, at, text, level="warning")


def _completed_prompts(session: Session) -> list[UserMessage]:
    """Return the prompts that the agent should remember: those of turns that ended normally."""
    ended = {
        entry.turn
        for entry in session.entries[session.forgotten :]
        if isinstance(entry, TurnEnd) and entry.stop_reason == "end_turn"
    }
    return [
        prompt for prompt in session.prompts_since_forgotten if prompt.turn in ended and not prompt.withdrawn
    ]


def close(session: Session, at: float) -> list[Change]:
    """End the replay. Called when a prompt is sent."""
    replay, session.reducer_state.replay = session.reducer_state.replay, None
    session.replaying, session.history_complete = False, True
    if replay is None or replay.into is not None or not replay.began:
        return []
    return [*end_message(session, at), *close_open_calls(session, "unfinished", at)]


def give_up(session: Session) -> None:
    """Drop the replay. Called when a session could not be opened, or the agent's process has ended."""
    session.reducer_state.replay = None
    session.replaying, session.history_complete = False, True


def _prompts(session: Session) -> list[str]:
    return [_prompt_text(entry) for entry in session.entries if isinstance(entry, UserMessage)]


def _prompt_text(message: UserMessage) -> str:
    """Return the text of a prompt that the user sees, with normalised whitespace."""
    texts = (
        str(part)
        for part in message.parts
        if isinstance(part, GrowingText) and not (isinstance(part, AnnotatedText) and part.for_assistant_only)
    )
    return " ".join("".join(texts).split())
