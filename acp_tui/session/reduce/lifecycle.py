"""The lifecycle: the agent's process, the handshake, and the opening of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.record import REQUEST_CANCELLED, Change
from acp_tui.session.reduce import history, requests, subagents
from acp_tui.session.reduce.entries import add_notice, end_message, facts_changed, touch
from acp_tui.session.reduce.facts import begin_restore, reset_facts, set_modes, set_options, update_settings
from acp_tui.session.reduce.notices import end_hand_messages
from acp_tui.session.reduce.plans import end_compactions
from acp_tui.session.reduce.terminals import end_agent_terminals
from acp_tui.session.reduce.tool_calls import close_open_calls, end_own_tool_calls
from acp_tui.session.reduce.turns import end_turn, note_error
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Message, Notice, Phase, Process, RpcError, Session

if TYPE_CHECKING:
    from acp_tui.session import events as ev


_RESUMED = "Session resumed"
SETTING_METHODS = frozenset({"session/set_mode", "session/set_config_option", "session/set_model"})


# --------------------------------------------------------------------------- the process


def agent_started(session: Session, event: ev.AgentStarted, at: float) -> list[Change]:
    """Store the agent's new process, and end the turns and requests that the previous process left open."""
    is_restart = session.process is not None and not event.in_new_run
    session.reducer_state.resuming = session.process is not None and event.in_new_run
    session.process = Process(command=event.command, cwd=event.cwd, pid=event.pid)
    interrupted = RpcError(0, "The turn was interrupted before it finished")
    changes = _end_everything(session, at, interrupted, acp_tui_ended=event.in_new_run)
    session.reducer_state.repeated.clear()
    session.reducer_state.by_message_id.clear()
    changes += [*facts_changed("process"), *_set_phase(session, "connecting")]
    if not is_restart or event.pid is None:  # a remote agent was not restarted
        return changes
    return [*changes, *add_notice(session, at, "Agent restarted")]


def agent_exited(session: Session, event: ev.AgentExited, at: float) -> list[Change]:
    """End the turns and requests that the agent's process left open, and report why it exited."""
    session.process = process = session.process or Process()
    process.exit_code, process.signal = event.exit_code, event.signal
    process.outlived_input = event.outlived_input
    process.stderr_tail = event.stderr_tail
    sentence = exit_sentence(event)
    tail = "\n".join(event.stderr_tail) or None
    in_turn = session.reducer_state.prompts > 0  # if so, the end of the turn shows the error
    error = None if event.expected else RpcError(0, sentence, tail)
    ended = _end_everything(session, at, error, acp_tui_ended=event.found_later)
    changes = [*facts_changed("process"), *ended]
    if not event.expected and not in_turn:
        changes += _exit_notice(session, sentence, tail, at)
    return [*changes, *_set_phase(session, "dead")]


def _exit_notice(session: Session, sentence: str, tail: str | None, at: float) -> list[Change]:
    """Add a notice about the exit, unless the last entry says the same: it then gets the new time.

    Connecting to a remote agent can fail in the same way many times.
    """
    last = session.entries[-1] if session.entries else None
    if isinstance(last, Notice) and (last.level, last.text, last.detail) == ("error", sentence, tail):
        last.at = at
        return [touch(last)]
    return add_notice(session, at, sentence, level="error", detail=tail)


def _end_everything(
    session: Session, at: float, error: RpcError | None, *, acp_tui_ended: bool
) -> list[Change]:
    """End all that the agent's process left open: the turn, tool calls, requests, terminals and the like.

    If `error` is None, the end of the process was expected, and an open turn counts as cancelled.
    `acp_tui_ended`: whether acp-tui ended before the process, so that nobody could answer.
    """
    changes: list[Change] = []
    session.reducer_state.unaccepted = 0
    session.background_calls, session.background_terminals = [], []
    while session.reducer_state.prompts:
        changes += end_turn(session, at, None if error else "cancelled", error)
    changes += close_open_calls(session, "unfinished", at)
    changes += requests.cancel_all(session, acp_tui_ended=acp_tui_ended)
    changes += subagents.end_all(session, at, acp_tui_ended=acp_tui_ended)
    changes += end_agent_terminals(session, at)
    changes += end_own_tool_calls(session, at)
    changes += end_compactions(session)
    changes += end_hand_messages(session)
    changes += end_message(session, at)
    history.give_up(session)
    session.reducer_state.opening = None
    session.cancelling = False
    return changes


def exit_sentence(event: ev.AgentExited) -> str:
    if event.reason:
        return event.reason
    if event.expected:
        return "The agent was stopped"
    if event.signal is not None:
        return f"The agent was killed by signal {event.signal}"
    if event.exit_code is not None:
        return f"The agent exited with code {event.exit_code}"
    return "The agent could not be started"


# --------------------------------------------------------------------------- the handshake


def initializing(session: Session, _event: ev.Initializing, _at: float) -> list[Change]:
    return _set_phase(session, "connecting")


def initialized(session: Session, event: ev.Initialized, _at: float) -> list[Change]:
    session.agent = event.agent
    session.dialect = event.dialect
    return facts_changed("agent", "dialect")


def signed_in(session: Session, event: ev.SignedIn, at: float) -> list[Change]:
    session.auth_required = False
    methods = session.agent.auth_methods if session.agent else []
    name = next((method.name for method in methods if method.id == event.method_id), event.method_id)
    return [*facts_changed("auth_required"), *add_notice(session, at, f"Signed in: {name}")]


def signed_out(session: Session, _event: ev.SignedOut, at: float) -> list[Change]:
    session.auth_required = True
    return [*facts_changed("auth_required"), *add_notice(session, at, "Signed out")]


# --------------------------------------------------------------------------- the session


def session_opening(session: Session, event: ev.SessionOpening, _at: float) -> list[Change]:
    """Prepare for a session that is being opened, because updates for it can arrive before the answer."""
    memory = session.reducer_state
    memory.opening, memory.phase_before = event.how, session.phase
    changes: list[Change] = []
    if event.how != "fork":
        session.cwd, session.directories = event.cwd or session.cwd, event.directories
        session.mcp_servers = event.mcp_servers
        changes += facts_changed("cwd", "directories", "mcp_servers")
    changes += begin_restore(session)
    if event.how == "new" and session.session_id is not None:
        changes += reset_facts(session)
    elif event.how in ("load", "resume"):
        history.begin(session, event.how, event.session_id)
    if event.how == "load":
        changes += _set_phase(session, "loading")
    return changes


def session_opened(session: Session, event: ev.SessionOpened, at: float) -> list[Change]:
    """Store the id, modes, config options and models of the session."""
    before = session.session_id
    session.reducer_state.opening = None
    session.reducer_state.is_new = event.how == "new"
    session.auth_required = False
    changes: list[Change] = []
    changes += history.answered(session, at)
    if event.how == "load":
        changes += end_message(session, at)
        changes += close_open_calls(session, "unfinished", at)
        subagents.end_loading(session)
    if event.session_id is not None:
        session.session_id = event.session_id
    if event.config_options is not None:
        changes += set_options(session, event.config_options)
    changes += set_modes(session, event.modes, event.mode)
    if event.models is not None and not any(option.category == "model" for option in session.config_options):
        session.models, session.model = event.models, event.model
        changes += facts_changed("models", "model")
    update_settings(session)
    if not session.working:
        changes += _set_phase(session, "idle")
    if session.reducer_state.resuming:
        session.reducer_state.resuming = False
        if event.how in ("load", "resume"):
            changes += _resumed_notice(session, at)
    if before is not None and (before != session.session_id or event.how == "new"):
        changes += _changed_session_notice(session, event.how, at)
    return [*changes, *facts_changed("session_id", "auth_required")]


def _resumed_notice(session: Session, at: float) -> list[Change]:
    """Add a notice that the session was resumed. One that is the last entry already gets the new time."""
    last = session.entries[-1] if session.entries else None
    if isinstance(last, Notice) and last.source == "client" and last.text == _RESUMED:
        last.at = at
        return [touch(last)]
    return add_notice(session, at, _RESUMED)


def _changed_session_notice(session: Session, how: str, at: float) -> list[Change]:
    """Add a notice if the conversation continues in a fork, or in a new session without earlier messages."""
    if how == "fork":
        return add_notice(session, at, "The conversation continues in a fork of the session")
    if how == "new" and any(isinstance(entry, Message) for entry in session.entries):
        session.forgotten = len(session.entries)
        return add_notice(
            session, at, "New session: the agent cannot see the conversation above", level="warning"
        )
    return []


def session_closed(session: Session, event: ev.SessionClosed, at: float) -> list[Change]:
    text = "The session was deleted" if event.deleted else "The session was closed"
    return [*add_notice(session, at, text), *_set_phase(session, "connecting")]


def call_failed(session: Session, event: ev.CallFailed, at: float) -> list[Change]:
    """Add a notice about a failed request. If the request was to open a session, restore the old phase."""
    changes = note_error(session, event.error)
    opening = session.reducer_state.opening
    if opening is not None and event.method in (f"session/{opening}", "session/resume"):
        session.reducer_state.opening = None
        history.give_up(session)
        changes += _set_phase(session, session.reducer_state.phase_before)
    if session.reducer_state.restoring and event.method in SETTING_METHODS:
        return changes  # the controller adds a notice
    if event.error.code == REQUEST_CANCELLED:  # the user cancelled it
        return [*changes, *add_notice(session, at, f"{event.method} was cancelled")]
    text = f"{event.method} failed: {escape_line(event.error.message)}"
    return [
        *changes,
        *add_notice(session, at, text, level="error", detail=event.error.detail, source="agent"),
    ]


def _set_phase(session: Session, phase: Phase) -> list[Change]:
    session.phase = phase
    return facts_changed("phase")
