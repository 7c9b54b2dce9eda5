"""The reducer: the only code that changes a session.

It is synchronous and has no clock: the same events at the same times give the same state. The cost of
most events does not depend on the length of the conversation. Exceptions are the events that reopen a
session. Events such as the end of a turn cost more in a long turn.
"""

from __future__ import annotations

from acp_tui.session import events as ev
from acp_tui.session.reduce import (
    facts,
    files,
    history,
    lifecycle,
    messages,
    notices,
    plans,
    requests,
    subagents,
    terminals,
    tool_calls,
    turns,
)
from acp_tui.session.reduce.rules import HANDLERS, EventRule, reduce
from acp_tui.session.reduce.subagents import about_request, ending_calls

__all__ = ["HANDLERS", "EventRule", "reduce"]

# A new kind of event needs a row here and a handler.
HANDLERS |= {
    ev.TextChunk: EventRule(messages.text_chunk, "message text", in_history=True),
    ev.ContentChunk: EventRule(messages.content_chunk, "message text", in_history=True),
    ev.MessageReplaced: EventRule(messages.message_replaced, "message text", in_history=True),
    ev.ToolCallChanged: EventRule(subagents.owned_call_changed, "a tool call", in_history=True),
    ev.PlanChanged: EventRule(plans.plan_changed, "a plan", in_history=True),
    ev.CompactionChanged: EventRule(plans.compaction_changed, "a context compaction", in_history=True),
    ev.CompactionChunk: EventRule(plans.compaction_chunk, "a context compaction", in_history=True),
    ev.TerminalOutput: EventRule(terminals.terminal_output, in_history=True),
    ev.TerminalCreated: EventRule(terminals.terminal_created, in_history=True),
    ev.TerminalExited: EventRule(terminals.terminal_exited, in_history=True),
    ev.TerminalReleased: EventRule(terminals.terminal_released),
    ev.TerminalCleared: EventRule(terminals.terminal_cleared, in_history=True),
    ev.TerminalControlChanged: EventRule(terminals.terminal_control_changed, in_history=True),
    ev.CommandsChanged: EventRule(facts.commands_changed, "its commands"),
    ev.ModeChanged: EventRule(facts.mode_changed, "its mode"),
    ev.ConfigOptionsChanged: EventRule(facts.config_options_changed, "its options"),
    ev.ConfigOptionSet: EventRule(facts.config_option_set, "its options"),
    ev.ModelChanged: EventRule(facts.model_changed, "its model"),
    ev.McpCalled: EventRule(facts.mcp_called),
    ev.OwnToolCalled: EventRule(tool_calls.own_tool_called),
    ev.OwnToolEnded: EventRule(tool_calls.own_tool_ended),
    ev.SettingsRestored: EventRule(facts.settings_restored),
    ev.UsageChanged: EventRule(facts.usage_changed, "its usage"),
    ev.TokensUsed: EventRule(facts.tokens_used, "its usage"),
    ev.Retrying: EventRule(facts.retrying, "a repeated request to its model"),
    ev.QuotaChanged: EventRule(facts.quota_changed, "its usage"),
    ev.InfoChanged: EventRule(facts.info_changed, "the session's title"),
    ev.Queued: EventRule(facts.queued),
    ev.Unqueued: EventRule(facts.unqueued),
    ev.QueuePaused: EventRule(facts.queue_paused),
    ev.PromptSent: EventRule(turns.prompt_sent),
    ev.Steered: EventRule(turns.steered, "an answer to a message"),
    ev.TurnAccepted: EventRule(turns.turn_accepted, "prompt accepted"),
    ev.BackgroundWorkChanged: EventRule(turns.background_work_changed, "its state"),
    ev.WorkStateChanged: EventRule(turns.work_state_changed, "its state"),
    ev.TurnEnded: EventRule(ending_calls(turns.turn_ended), "end of turn"),
    ev.TurnFailed: EventRule(ending_calls(turns.turn_failed), "an error"),
    ev.CancelSent: EventRule(ending_calls(turns.cancel_sent)),
    ev.AgentStarted: EventRule(lifecycle.agent_started),
    ev.AgentExited: EventRule(lifecycle.agent_exited),
    ev.Initializing: EventRule(lifecycle.initializing),
    ev.Initialized: EventRule(lifecycle.initialized, "initialize response"),
    ev.SessionOpening: EventRule(lifecycle.session_opening),
    ev.SessionOpened: EventRule(lifecycle.session_opened, "session opened"),
    ev.HistoryCompleted: EventRule(history.history_completed),
    ev.SessionClosed: EventRule(lifecycle.session_closed, "session closed"),
    ev.SignedIn: EventRule(lifecycle.signed_in, "signed in"),
    ev.SignedOut: EventRule(lifecycle.signed_out, "signed out"),
    ev.CallFailed: EventRule(lifecycle.call_failed, "an error"),
    ev.PermissionRequested: EventRule(subagents.permission_requested, "a permission request"),
    ev.PermissionAnswered: EventRule(about_request(requests.permission_answered)),
    ev.ElicitationRequested: EventRule(subagents.elicitation_requested, "a question"),
    ev.ElicitationAnswered: EventRule(about_request(requests.elicitation_answered)),
    ev.ElicitationCompleted: EventRule(about_request(requests.elicitation_completed), "a completed web form"),
    ev.RequestWithdrawn: EventRule(about_request(requests.request_withdrawn), "a withdrawn request"),
    ev.Decided: EventRule(about_request(requests.decided)),
    ev.DiffPlaced: EventRule(tool_calls.diff_placed),
    ev.Noticed: EventRule(notices.noticed),
    ev.WrittenByHand: EventRule(notices.ignore),
    ev.HandMessageSent: EventRule(notices.hand_message_sent),
    ev.HandMessageAnswered: EventRule(notices.hand_message_answered, "an answer to your message"),
    ev.HandMessageCancelled: EventRule(notices.hand_message_cancelled),
    ev.AgentNotice: EventRule(notices.agent_notice, "a notice"),
    ev.FileBeforeWrite: EventRule(files.file_before_write),
    ev.FileServed: EventRule(files.file_served),
    ev.Unknown: EventRule(notices.unknown, "an unknown message"),
    ev.RequestRefused: EventRule(notices.request_refused),
    ev.IgnoredMessage: EventRule(notices.ignore, "something"),
    ev.ProtocolFault: EventRule(notices.protocol_fault, "a malformed message"),
    ev.Noise: EventRule(notices.noise, "a line that is not a message"),
    ev.SubagentChanged: EventRule(subagents.subagent_changed, "the state of a subagent", in_history=True),
    ev.SessionMessageChanged: EventRule(
        subagents.message_changed, "a message between agents", in_history=True
    ),
    ev.InSubagent: EventRule(subagents.in_subagent, "an update of a subagent", in_history=True),
    ev.OtherSessionUpdate: EventRule(subagents.elsewhere, "an update for another session", in_history=True),
}
