"""Hypothesis strategies for frames of all kinds, from almost valid ones to garbage."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from acp_tui.session.record import Record

texts = st.one_of(
    st.sampled_from(["s1", "s2", "t1", "text", "mode", "select", "end_turn", ""]), st.text(max_size=6)
)
junk: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 6), st.floats(allow_nan=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
NAMES = [
    "sessionId", "sessionUpdate", "update", "content", "toolCallId", "status", "kind", "title",
    "rawInput", "_meta", "entries", "plan", "planId", "options", "optionId", "toolCall", "requestId",
    "outcome", "stopReason", "usage", "used", "size", "cost", "modes", "models", "configOptions",
    "currentModeId", "availableModes", "protocolVersion", "agentInfo", "agentCapabilities",
    "authMethods", "messageId", "type", "text", "annotations", "audience", "locations", "path", "line",
    "diff", "oldText", "newText", "terminalId", "terminal_info", "terminal_output", "terminal_exit",
    "data", "availableCommands", "input", "hint", "name", "id", "value", "currentValue", "category",
    "mode", "modeId", "configId", "modelId", "prompt", "cwd", "additionalDirectories", "message",
    "code", "details", "elicitationId", "requestedSchema", "url", "action", "success", "severity",
    "compactionId", "summary", "error", "updatedAt", "resource", "description", "capabilities", "cancel",
    "state", "senderSessionId", "recipientSessionId", "parentToolCallId",
]  # fmt: skip
UPDATES = [
    "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update",
    "plan", "plan_update", "plan_removed", "available_commands_update", "current_mode_update",
    "config_option_update", "session_info_update", "usage_update", "notice", "compaction_update",
    "compaction_summary_chunk", "end_turn", "subagent_update", "state_update", "session_message",
    "session_message_chunk", "other",
]  # fmt: skip
METHODS = [
    "initialize", "authenticate", "logout", "session/new", "session/load", "session/resume",
    "session/fork", "session/close", "session/prompt", "session/cancel", "session/set_mode",
    "session/set_config_option", "session/set_model", "session/update", "session/request_permission",
    "elicitation/create", "elicitation/complete", "fs/read_text_file", "fs/write_text_file",
    "terminal/create", "terminal/release", "$/cancel_request", "_x/y", "what/ever",
]  # fmt: skip
bodies: st.SearchStrategy[Any] = st.recursive(
    st.one_of(texts, st.none(), st.booleans(), st.integers(-3, 6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    ),
    max_leaves=10,
)
objects = st.dictionaries(st.sampled_from(NAMES), bodies, max_size=6)
ids = st.one_of(st.integers(0, 5), st.sampled_from(["a", "1"]), junk)
updates = st.builds(
    lambda session, kind, body: {
        "method": "session/update",
        "params": {"sessionId": session, "update": {**body, "sessionUpdate": kind}},
    },
    st.sampled_from(["s1", "s2"]),
    st.sampled_from(UPDATES),
    objects,
)
subagents = st.builds(  # and their calls, with ids that match
    lambda session, body, ids: {
        "method": "session/update",
        "params": {"sessionId": session, "update": {**body, **ids}},
    },
    st.sampled_from(["s1", "s2", "s3"]),
    objects,
    st.one_of(
        st.fixed_dictionaries(
            {"sessionUpdate": st.just("subagent_update"), "sessionId": st.sampled_from(["s1", "s2", "s3"])},
            optional={"state": st.sampled_from([{"state": "running"}, {"state": "idle"}, "unknown", None])},
        ),
        st.fixed_dictionaries(
            {"sessionUpdate": st.just("tool_call"), "toolCallId": st.sampled_from(["t1", "t2"])},
            optional={"parentToolCallId": st.sampled_from(["t1", "t2"])},
        ),
    ),
)
frames = st.one_of(
    updates,
    subagents,
    st.fixed_dictionaries({"method": st.sampled_from(METHODS), "params": objects}, optional={"id": ids}),
    st.fixed_dictionaries({"id": ids}, optional={"result": bodies, "error": bodies}),
    st.fixed_dictionaries({"id": ids, "result": objects}),
    st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error"]), junk, max_size=4),
    junk,
)
CLIENT_EVENTS = [
    "agent_started", "agent_exited", "decided", "noticed", "queued", "unqueued", "queue_paused",
    "terminal_output", "terminal_exited",
]  # fmt: skip
clients = st.one_of(
    st.fixed_dictionaries(
        {"event": st.sampled_from(CLIENT_EVENTS)},
        optional={
            "id": texts,
            "text": texts,
            "command": st.lists(texts, max_size=2),
            "cwd": texts,
            "level": st.sampled_from(["info", "error", "?"]),
            "terminal_id": st.sampled_from(["t1", "t2"]),
            "request_id": ids,
            "by": texts,
            "why": texts,
            "paused": st.booleans(),
        },
    ),
    junk,
)
anything = st.lists(
    st.one_of(
        st.builds(Record, st.just(1.0), st.sampled_from(["sent", "received"]), frames),
        st.builds(Record, st.just(1.0), st.just("client"), clients),
    ),
    max_size=25,
)
