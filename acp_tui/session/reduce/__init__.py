"""The reducer: the only code that changes a session.

It is synchronous and has no clock: the same events with the same times give the same state. The cost of an
event does not depend on how long the conversation is (but for the end of a turn, which looks at that turn).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.reduce import (
    facts,
    files,
    history,
    kept_settings,
    messages,
    notices,
    opening,
    plans,
    requests,
    terminals,
    tools,
    turns,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from acp_tui.session.change import Change
    from acp_tui.session.state import Session

    Handler = Callable[[Session, Any, float], list[Change]]

# Each event's handler, and the words for it as a sign of life of the agent (None: not one).
_HANDLERS: dict[type[ev.Event], tuple[Handler, str | None]] = {
    ev.TextChunk: (messages.text_chunk, "message text"),
    ev.ContentChunk: (messages.content_chunk, "message text"),
    ev.ToolCallChanged: (tools.tool_call_changed, "a tool call"),
    ev.PlanChanged: (plans.plan_changed, "a plan"),
    ev.CompactionChanged: (plans.compaction_changed, "a context compaction"),
    ev.CompactionChunk: (plans.compaction_chunk, "a context compaction"),
    ev.TerminalOutput: (terminals.terminal_output, None),
    ev.TerminalCreated: (terminals.terminal_created, None),
    ev.TerminalExited: (terminals.terminal_exited, None),
    ev.TerminalReleased: (terminals.terminal_released, None),
    ev.CommandsChanged: (facts.commands_changed, "its commands"),
    ev.ModeChanged: (facts.mode_changed, "its mode"),
    ev.ConfigOptionsChanged: (facts.config_options_changed, "its options"),
    ev.ConfigOptionSet: (facts.config_option_set, "its options"),
    ev.ModelChanged: (facts.model_changed, "its model"),
    ev.SettingsRestored: (kept_settings.settings_restored, None),
    ev.UsageChanged: (facts.usage_changed, "its usage"),
    ev.InfoChanged: (facts.info_changed, "the session's title"),
    ev.Queued: (facts.queued, None),
    ev.Unqueued: (facts.unqueued, None),
    ev.QueuePaused: (facts.queue_paused, None),
    ev.PromptSent: (turns.prompt_sent, None),
    ev.TurnAccepted: (notices.nothing, "prompt accepted"),
    ev.TurnEnded: (turns.turn_ended, "end of turn"),
    ev.TurnFailed: (turns.turn_failed, "an error"),
    ev.CancelSent: (turns.cancel_sent, None),
    ev.AgentStarted: (opening.agent_started, None),
    ev.AgentExited: (opening.agent_exited, None),
    ev.Initializing: (opening.initializing, None),
    ev.Initialized: (opening.initialized, "its answer to initialize"),
    ev.SessionOpening: (opening.session_opening, None),
    ev.SessionOpened: (opening.session_opened, "session opened"),
    ev.SessionClosed: (opening.session_closed, "session closed"),
    ev.SignedIn: (opening.signed_in, "signed in"),
    ev.SignedOut: (opening.signed_out, "signed out"),
    ev.CallFailed: (opening.call_failed, "an error"),
    ev.PermissionRequested: (requests.permission_requested, "a permission request"),
    ev.PermissionAnswered: (requests.permission_answered, None),
    ev.ElicitationRequested: (requests.elicitation_requested, "a question"),
    ev.ElicitationAnswered: (requests.elicitation_answered, None),
    ev.ElicitationCompleted: (requests.elicitation_completed, "a completed web form"),
    ev.RequestWithdrawn: (requests.request_withdrawn, "a withdrawn request"),
    ev.Decided: (requests.decided, None),
    ev.DiffPlaced: (tools.diff_placed, None),
    ev.Noticed: (notices.noticed, None),
    ev.AgentNotice: (notices.agent_notice, "a notice"),
    ev.FileBeforeWrite: (files.file_before_write, None),
    ev.FileServed: (files.file_served, None),
    ev.Unknown: (notices.unknown, "an unknown message"),
    ev.Nothing: (notices.nothing, "something"),
    ev.ProtocolFault: (notices.protocol_fault, "a malformed message"),
    ev.Noise: (notices.noise, "a line that is not a message"),
    ev.Elsewhere: (notices.elsewhere, "an update for another session"),
}


def reduce(session: Session, event: ev.Event, at: float) -> list[Change]:
    """Apply an event to the session and return the changes."""
    handler, heard = _HANDLERS[type(event)]
    if heard is not None:
        session.heard_at = at
        session.heard = event.what if type(event) is ev.Nothing else heard
    replay = session.reducer_state.replay
    if replay is not None:
        if history.is_history(session, replay, event, at):
            return history.take(session, replay, handler, event, at)
        session.replaying = False
    return handler(session, event, at)
