"""The table of all checks: group, name, the sentence of the specification, and the function that checks it.

A check passes if its function returns. Otherwise the function raises `Failed`, `NotOffered` or `NotSeen`.
Only what the specification says can fail: its sentences here have a MUST or SHOULD, define a field, or are a
schema.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.doctor.suite import (
    elicitation,
    extensions,
    handshake,
    lifecycle,
    mcp_servers,
    observed,
    robustness,
    served,
    sessions,
    sign_in,
    steering,
    subagents,
    turns,
)
from acp_tui.doctor.suite.observed import (
    Observed,
    schema_of_answer,
    schema_of_call,
    tool_violation,
    violation,
)

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench

SPECIFICATION = "https://agentclientprotocol.com/protocol/"
JSON_RPC = "https://www.jsonrpc.org/specification"
JSON = "https://www.json.org/"
STEERING_PAGE = "https://github.com/agentclientprotocol/codex-acp"


class Check(NamedTuple):
    """One row of the table."""

    group: str
    name: str
    page: str
    """The page of the sentence, below `SPECIFICATION` unless it is a full address."""
    sentence: str
    """The words of the specification, shortened to what is checked."""
    run: Callable[[Bench], Awaitable[None]]
    last: bool = False
    """Whether the function looks at what all other checks have seen. So does each `Observed`."""

    @property
    def address(self) -> str:
        """The address of the page."""
        return self.page if "://" in self.page else f"{SPECIFICATION}{self.page}"


_SCHEMA = "v1/schema"
STORED = "stored sessions"
_REPLY = (
    "When a rpc call is made, the Server MUST reply with a Response, except for in the case of Notifications."
)
_NO_REPLY = "The Server MUST NOT reply to a Notification"
_SAME_ID = "It MUST be the same as the value of the id member in the Request Object."
_META = "All types in the protocol include a _meta field"
_TURN_ENDS = (
    "If there are no pending tool calls, the turn ends and the Agent MUST respond to the original"
    " session/prompt request with a StopReason"
)
_DECLINED = (
    "They MUST handle decline, cancel, and failures by safely falling back, retrying, or failing the"
    " originating operation as appropriate."
)
_STEERING = (
    "Mid-turn input through the _session/steering extension, with an opt-in host-owned fallback when no"
    " turn can accept it."
)

CHECKS: tuple[Check, ...] = (
    # ---------------------------------------------------------------------------------- messages
    Check(
        "messages", "stdout-only-messages", "v1/transports",
        "The agent MUST NOT write anything to its stdout that is not a valid ACP message.",
        violation("stdout-noise"),
    ),
    Check(
        "messages", "one-line-per-message", "v1/transports",
        "Messages are delimited by newlines (\\n), and MUST NOT contain embedded newlines.",
        violation("stdout-framing"),
    ),
    Check(
        "messages", "message-is-object", "v1/transports",
        "Messages are individual JSON-RPC requests, notifications, or responses.",
        violation("malformed-envelope"),
    ),
    Check(
        "messages", "utf-8", "v1/transports",
        "JSON-RPC messages MUST be UTF-8 encoded.",
        observed.utf_8,
        last=True,
    ),
    Check(
        "messages", "jsonrpc-2.0", JSON_RPC,
        'A String specifying the version of the JSON-RPC protocol. MUST be exactly "2.0".',
        violation("schema:envelope"),
    ),
    Check(
        "messages", "error-object", "v1/overview",
        "Errors include an error object with code and message.",
        violation("schema:error", "error"),
    ),
    Check(
        "messages", "answers-to-requests-only", "v1/overview",
        "Notifications never receive responses (success or error).",
        violation("answer-to-nothing", first=turns.cancel_without_turn),
    ),
    Check(
        "messages", "one-answer-per-request", JSON_RPC,
        "When a rpc call is made, the Server MUST reply with a Response,"
        " except for in the case of Notifications.",
        violation("answered-twice"),
    ),
    Check(
        "messages", "request-ids-differ", JSON_RPC,
        "This member is required. It MUST be the same as the value of the id member in the Request Object.",
        violation("request-id-twice"),
    ),
    # ---------------------------------------------------------------------------------- handshake
    Check(
        "handshake", "initialize", "v1/initialization",
        "The Agent MUST respond with the chosen protocol version and the capabilities it supports.",
        handshake.answered,
    ),
    Check(
        "handshake", "version-is-integer", "v1/initialization",
        "The protocol versions that appear in the initialize requests and responses are a single integer.",
        handshake.version_is_integer,
    ),
    Check(
        "handshake", "same-version", "v1/initialization",
        "If the Agent supports the requested version, it MUST respond with the same version.",
        handshake.same_version,
    ),
    Check(
        "handshake", "future-version", "v1/initialization",
        "Otherwise, the Agent MUST respond with the latest version it supports.",
        handshake.future_version,
    ),
    Check(
        "handshake", "no-capabilities", "v1/initialization",
        "All capabilities included in the initialize request are OPTIONAL.",
        handshake.no_capabilities,
    ),
    Check(
        "handshake", "unknown-capabilities", "v1/initialization",
        "The introduction of new capabilities is not considered a breaking change.",
        handshake.unknown_capabilities,
    ),
    Check(
        "handshake", "schema-initialize", _SCHEMA,
        "InitializeResponse: Response to the initialize method.",
        schema_of_answer("initialize"),
    ),
    # ---------------------------------------------------------------------------------- sessions
    Check(
        "sessions", "session-new", "v1/session-setup",
        "The Agent MUST respond with a unique Session ID that identifies this conversation.",
        sessions.new_session,
    ),
    Check(
        "sessions", "session-ids-differ", "v1/session-setup",
        "The session ID returned by session/new is a unique identifier for the conversation context.",
        sessions.ids_differ,
    ),
    Check(
        "sessions", "schema-session-new", _SCHEMA,
        "NewSessionResponse: Response from creating a new session.",
        schema_of_answer("session/new"),
    ),
    Check(
        "sessions", "cwd-is-used", "v1/session-setup",
        "This directory MUST be used for the session regardless of where the Agent subprocess was spawned.",
        sessions.cwd_is_used,
    ),
    Check(
        "sessions", "additional-directories", "v1/session-setup",
        "Agents that advertise sessionCapabilities.additionalDirectories allow Clients to include"
        " additional workspace roots.",
        sessions.additional_directories,
    ),
    Check(
        "sessions", "stop-reason", "v1/prompt-turn",
        "The Agent MUST respond to the original session/prompt request with a StopReason.",
        sessions.stop_reason,
    ),
    Check(
        "sessions", "schema-session-prompt", _SCHEMA,
        "PromptResponse: Response from processing a user prompt.",
        schema_of_answer("session/prompt"),
    ),
    Check(
        "sessions", "next-prompt", "v1/prompt-turn",
        "Once a prompt turn completes, the Client may send another session/prompt to continue.",
        sessions.next_prompt,
    ),
    Check(
        "sessions", "schema-session-update", _SCHEMA,
        "SessionNotification: Notification containing a session update from the agent.",
        schema_of_call("session/update"),
    ),
    Check(
        "sessions", "known-sessions", _SCHEMA,
        "The ID of the session this update pertains to.",
        sessions.known_sessions,
        last=True,
    ),
    Check(
        "sessions", "no-undeclared-updates", _SCHEMA,
        "Agents MUST only send this update when the Client advertised the session.notices Client capability.",
        served.no_undeclared_updates,
    ),
    # ---------------------------------------------------------------------------------- prompt content
    Check(
        "prompt content", "text", "v1/content",
        "All Agents MUST support text content blocks when included in prompts.",
        sessions.text,
    ),
    Check(
        "prompt content", "several-blocks", "v1/prompt-turn",
        "The contents of the user message, e.g. text, images, files, etc.",
        sessions.several_blocks,
    ),
    Check(
        "prompt content", "resource-link", "v1/initialization",
        "As a baseline, all Agents MUST support ContentBlock::Text and ContentBlock::ResourceLink"
        " in session/prompt requests.",
        sessions.resource_link,
    ),
    Check(
        "prompt content", "annotations", "v1/content",
        "Optional metadata about how the content should be used or displayed.",
        sessions.annotated_text,
    ),
    Check(
        "prompt content", "image", "v1/initialization",
        "image: The prompt may include ContentBlock::Image.",
        sessions.image,
    ),
    Check(
        "prompt content", "audio", "v1/initialization",
        "audio: The prompt may include ContentBlock::Audio.",
        sessions.audio,
    ),
    Check(
        "prompt content", "embedded-text", "v1/initialization",
        "embeddedContext: The prompt may include ContentBlock::Resource.",
        sessions.embedded_text,
    ),
    Check(
        "prompt content", "embedded-bytes", "v1/initialization",
        "embeddedContext: The prompt may include ContentBlock::Resource.",
        sessions.embedded_bytes,
    ),
    # ---------------------------------------------------------------------------------- tool calls
    Check(
        "tool calls", "update-is-announced", _SCHEMA,
        "tool_call_update: An update to an existing tool call.",
        tool_violation("tool-update-unannounced", "tool_call_update"),
    ),
    Check(
        "tool calls", "pending-comes-first", "v1/tool-calls",
        "pending: The tool call hasn't started running yet because the input is either streaming or"
        " awaiting approval.",
        turns.pending_comes_first,
    ),
    Check(
        "tool calls", "calls-end", "v1/prompt-turn",
        "When the tool completes, the Agent sends another update with the final status and any content.",
        turns.calls_end,
    ),
    Check(
        "tool calls", "call-ids-differ", "v1/tool-calls",
        "toolCallId: A unique identifier for this tool call within the session.",
        turns.call_ids_differ,
    ),
    Check(
        "tool calls", "absolute-paths", "v1/overview",
        "All file paths in the protocol MUST be absolute.",
        tool_violation("relative-path", "tool_call", "tool_call_update"),
    ),
    Check(
        "tool calls", "lines-start-at-one", "v1/overview",
        "Line numbers are 1-based.",
        tool_violation("line-below-one", "tool_call", "tool_call_update"),
    ),
    Check(
        "tool calls", "shown-terminals-exist", "v1/tool-calls",
        "terminalId: The ID of a terminal created with terminal/create.",
        tool_violation("unknown-terminal", "tool_call", "tool_call_update"),
    ),
    Check(
        "tool calls", "plan", "v1/agent-plan",
        "The Agent MUST send a complete list of all plan entries in each update and their current status.",
        turns.plan,
    ),
    # ---------------------------------------------------------------------------------- permissions
    Check(
        "permissions", "schema-permission", _SCHEMA,
        "RequestPermissionRequest: Request for user permission to execute a tool call.",
        schema_of_call("session/request_permission"),
    ),
    Check(
        "permissions", "permission-is-request", "v1/tool-calls",
        "The Client responds with the user's decision.",
        tool_violation("permission-without-id", "session/request_permission"),
    ),
    Check(
        "permissions", "options-offered", "v1/tool-calls",
        "options: Available permission options for the user to choose from.",
        turns.options_offered,
    ),
    Check(
        "permissions", "permission-options-differ", "v1/tool-calls",
        "optionId: Unique identifier for this option.",
        tool_violation("permission-same-id", "session/request_permission"),
    ),
    Check(
        "permissions", "asks-before-acting", "v1/tool-calls",
        "The Agent MAY request permission from the user before executing a tool call.",
        turns.asks_before_acting,
    ),
    Check(
        "permissions", "rejection-is-respected", "v1/tool-calls",
        "reject_once: Reject this operation only this time.",
        turns.rejection_is_respected,
    ),
    Check(
        "permissions", "allow-once-is-once", "v1/tool-calls",
        "allow_once: Allow this operation only this time.",
        turns.allow_once_is_once,
    ),
    # ---------------------------------------------------------------------------------- cancel
    Check(
        "cancel", "cancelled", "v1/prompt-turn",
        "The Agent MUST respond to the original session/prompt request with the cancelled stop reason.",
        turns.cancelled,
    ),
    Check(
        "cancel", "cancelled-without-error", "v1/prompt-turn",
        "Agents MUST catch these errors and return the semantically meaningful cancelled stop reason.",
        turns.cancelled_without_error,
    ),
    Check(
        "cancel", "nothing-after-cancelled", "v1/prompt-turn",
        "The Agent MAY send session/update notifications with content or tool call updates after receiving"
        " the session/cancel notification, but it MUST ensure that it does so before responding to the"
        " session/prompt request.",
        turns.nothing_after_cancelled,
    ),
    Check(
        "cancel", "prompt-after-cancel", "v1/prompt-turn",
        "Once a prompt turn completes, the Client may send another session/prompt to continue.",
        turns.prompt_after_cancel,
    ),
    Check(
        "cancel", "cancelled-question", "v1/prompt-turn",
        "After all ongoing operations have been successfully aborted, the Agent MUST respond to the original"
        " session/prompt request with the cancelled stop reason.",
        turns.cancelled_question,
    ),
    Check(
        "cancel", "cancelled-command", "v1/prompt-turn",
        "After all ongoing operations have been successfully aborted, the Agent MUST respond to the original"
        " session/prompt request with the cancelled stop reason.",
        turns.cancelled_command,
    ),
    Check(
        "cancel", "cancel-without-turn", "v1/prompt-turn",
        "cancelled: The Client cancels the turn.",
        turns.cancel_without_turn,
    ),
    # ---------------------------------------------------------------------------------- files
    Check(
        "files", "no-undeclared-reads", "v1/file-system",
        "If readTextFile or writeTextFile is false or not present, the Agent MUST NOT attempt to call the"
        " corresponding filesystem method.",
        served.no_undeclared_reads,
    ),
    Check(
        "files", "no-undeclared-writes", "v1/file-system",
        "If readTextFile or writeTextFile is false or not present, the Agent MUST NOT attempt to call the"
        " corresponding filesystem method.",
        served.no_undeclared_writes,
    ),
    Check(
        "files", "schema-read", _SCHEMA,
        "ReadTextFileRequest: Request to read content from a text file.",
        schema_of_call("fs/read_text_file"),
    ),
    Check(
        "files", "schema-write", _SCHEMA,
        "WriteTextFileRequest: Request to write content to a text file.",
        schema_of_call("fs/write_text_file"),
    ),
    Check(
        "files", "served-paths-absolute", "v1/file-system",
        "path: Absolute path to the file to read.",
        served.paths_are_absolute,
    ),
    Check(
        "files", "served-lines-start-at-one", "v1/file-system",
        "line: Optional line number to start reading from (1-based).",
        served.lines_start_at_one,
    ),
    Check(
        "files", "missing-file", "v1/prompt-turn",
        "The Agent MUST respond to the original session/prompt request with a StopReason.",
        served.missing_file,
    ),
    Check(
        "files", "refused-write", "v1/prompt-turn",
        "The Agent MUST respond to the original session/prompt request with a StopReason.",
        served.refused_write,
    ),
    # ---------------------------------------------------------------------------------- terminals
    Check(
        "terminals", "no-undeclared-terminals", "v1/terminals",
        "If terminal is false or not present, the Agent MUST NOT attempt to call any terminal methods.",
        served.no_undeclared_terminals,
    ),
    Check(
        "terminals", "schema-terminal", _SCHEMA,
        "CreateTerminalRequest: Request to create a new terminal and execute a command.",
        schema_of_call(*served.TERMINAL_METHODS),
    ),
    Check(
        "terminals", "terminal-directory-absolute", "v1/terminals",
        "cwd: Working directory for the command. Must be an absolute path.",
        served.directories_are_absolute,
    ),
    Check(
        "terminals", "terminals-exist", "v1/terminals",
        "The terminal methods allow Agents to execute shell commands: terminal/create returns a Terminal ID.",
        served.terminals_exist,
    ),
    Check(
        "terminals", "terminals-are-released", "v1/terminals",
        "The Agent MUST release the terminal using terminal/release when it's no longer needed.",
        served.terminals_are_released,
    ),
    Check(
        "terminals", "released-after-cancel", "v1/terminals",
        "The Agent MUST still call terminal/release when it's done using it.",
        served.released_after_cancel,
    ),
    Check(
        "terminals", "released-terminals-unused", "v1/terminals",
        "After release the terminal ID becomes invalid for all other terminal/* methods.",
        served.released_terminals_are_not_used,
    ),
    Check(
        "terminals", "failing-command", "v1/prompt-turn",
        "The Agent MUST respond to the original session/prompt request with a StopReason.",
        served.failing_command,
    ),
    # ---------------------------------------------------------------------------------- modes and options
    Check(
        "modes and options", "current-mode", "v1/session-modes",
        "availableModes: The set of modes that the Agent can operate in.",
        sessions.current_mode,
    ),
    Check(
        "modes and options", "mode-ids-differ", "v1/session-modes",
        "id: Unique identifier for this mode.",
        sessions.mode_ids_differ,
    ),
    Check(
        "modes and options", "set-mode", "v1/session-modes",
        "The current mode can be changed at any point during a session, whether the Agent is idle or"
        " generating a response.",
        sessions.set_mode,
    ),
    Check(
        "modes and options", "schema-set-mode", _SCHEMA,
        "SetSessionModeResponse: Response to session/set_mode method.",
        schema_of_answer("session/set_mode", sessions.set_mode),
    ),
    Check(
        "modes and options", "mode-updates-known", "v1/session-modes",
        "availableModes: The set of modes that the Agent can operate in.",
        Observed(("unknown-mode",), ("current_mode_update",), by_session=True, first=sessions.set_mode),
    ),
    Check(
        "modes and options", "option-ids-differ", "v1/session-config-options",
        "id: Unique identifier for this configuration option.",
        sessions.option_ids_differ,
    ),
    Check(
        "modes and options", "option-values", "v1/session-config-options",
        "options: The available values for a select option.",
        sessions.option_values,
    ),
    Check(
        "modes and options", "option-defaults", "v1/session-config-options",
        "Agents MUST always provide a default value for every configuration option.",
        sessions.option_defaults,
    ),
    Check(
        "modes and options", "set-option", "v1/session-config-options",
        "The current value of a config option can be changed at any point during a session.",
        sessions.set_option,
    ),
    Check(
        "modes and options", "set-option-answers-all", "v1/session-config-options",
        "The Agent MUST respond with the complete list of all configuration options and their current"
        " values.",
        sessions.set_option_answers_all,
    ),
    Check(
        "modes and options", "set-boolean", "v1/session-config-options",
        'For boolean options, Clients send type: "boolean" with a boolean value.',
        sessions.set_boolean,
    ),
    Check(
        "modes and options", "no-undeclared-booleans", "v1/session-config-options",
        'Agents MUST NOT include type: "boolean" options in configOptions payloads unless the Client'
        " advertised support.",
        sessions.no_undeclared_booleans,
    ),
    Check(
        "modes and options", "schema-set-option", _SCHEMA,
        "SetSessionConfigOptionResponse: Response to session/set_config_option method.",
        schema_of_answer("session/set_config_option", sessions.set_option),
    ),
    # ---------------------------------------------------------------------------------- stored sessions
    Check(
        STORED, "load", "v1/session-setup",
        "loadSession: The session/load method is available.",
        lifecycle.load,
    ),
    Check(
        STORED, "load-replays", "v1/session-setup",
        "The Agent MUST replay the entire conversation to the Client in the form of session/update"
        " notifications.",
        lifecycle.load_replays,
    ),
    Check(
        STORED, "load-replays-first", "v1/session-setup",
        "When all the conversation entries have been streamed to the Client, the Agent MUST respond to the"
        " original session/load request.",
        lifecycle.load_replays_first,
    ),
    Check(
        STORED, "prompt-after-load", "v1/session-setup",
        "The Client can then continue sending prompts as if the session was never interrupted.",
        lifecycle.prompt_after_load,
    ),
    Check(
        STORED, "schema-load", _SCHEMA,
        "LoadSessionResponse: Response from loading an existing session.",
        schema_of_answer("session/load", lifecycle.load),
    ),
    Check(
        STORED, "resume", "v1/session-setup",
        "Agents that advertise sessionCapabilities.resume allow Clients to reconnect to an existing session.",
        lifecycle.resume,
    ),
    Check(
        STORED, "resume-replays-nothing", "v1/session-setup",
        "Unlike session/load, the Agent MUST NOT replay the conversation history via session/update"
        " notifications before responding.",
        lifecycle.resume_replays_nothing,
    ),
    Check(
        STORED, "prompt-after-resume", "v1/session-setup",
        "Instead, it restores the session context and returns once the session is ready to continue.",
        lifecycle.prompt_after_resume,
    ),
    Check(
        STORED, "schema-resume", _SCHEMA,
        "ResumeSessionResponse: Response from resuming an existing session.",
        schema_of_answer("session/resume", lifecycle.resume),
    ),
    Check(
        STORED, "lists-session", "v1/session-list",
        "The session/list method allows Clients to discover sessions known to an Agent.",
        lifecycle.lists_session,
    ),
    Check(
        STORED, "list-filters", "v1/session-list",
        "cwd: Only sessions with a matching cwd are returned.",
        lifecycle.list_filters,
    ),
    Check(
        STORED, "list-is-empty", "v1/session-list",
        "When no sessions match the criteria, the Agent MUST return an empty sessions array.",
        lifecycle.list_is_empty,
    ),
    Check(
        STORED, "list-ends", "v1/session-list",
        "nextCursor: Pass this in the next request's cursor parameter to fetch the next page. If absent,"
        " there are no more results.",
        lifecycle.list_ends,
    ),
    Check(
        STORED, "list-directories-absolute", "v1/session-list",
        "cwd: Working directory for the session. Always an absolute path.",
        lifecycle.list_directories_are_absolute,
    ),
    Check(
        STORED, "schema-list", _SCHEMA,
        "ListSessionsResponse: Response from listing sessions.",
        schema_of_answer("session/list", lifecycle.lists_session),
    ),
    Check(
        STORED, "close", "v1/session-setup",
        "Agents that advertise sessionCapabilities.close allow Clients to tell the Agent to cancel any"
        " ongoing work for a session and free any resources.",
        lifecycle.close,
    ),
    Check(
        STORED, "close-cancels", "v1/session-setup",
        "The Agent MUST cancel any ongoing work for that session as if session/cancel had been called.",
        lifecycle.close_cancels,
    ),
    Check(
        STORED, "schema-close", _SCHEMA,
        "CloseSessionResponse: Response from closing a session.",
        schema_of_answer("session/close", lifecycle.close),
    ),
    Check(
        STORED, "fork", "https://agentclientprotocol.com/rfds/session-fork",
        "The agent would respond with the sessionId of the new session.",
        lifecycle.fork,
    ),
    Check(
        STORED, "delete", "v1/session-delete",
        "Deleted sessions no longer appear in future session/list results.",
        lifecycle.delete,
    ),
    Check(
        STORED, "schema-delete", _SCHEMA,
        "DeleteSessionResponse: Response from deleting a session.",
        schema_of_answer("session/delete", lifecycle.delete),
    ),
    # ---------------------------------------------------------------------------------- sign-in
    Check(
        "sign-in", "auth-method-ids", "v1/authentication",
        "Every method has an id, but the Client sends that ID to authenticate only for a method whose"
        " type defines that protocol-driven flow.",
        sign_in.method_ids,
    ),
    Check(
        "sign-in", "auth-terminal-undeclared", "v1/authentication",
        "An Agent may advertise a terminal method only when this capability is true.",
        sign_in.terminal_method_undeclared,
    ),
    Check(
        "sign-in", "auth-required-has-methods", "v1/authentication",
        "Agents advertise available authentication methods in authMethods.",
        sign_in.sign_in_required_has_methods,
    ),
    Check("sign-in", "auth-unknown-method", JSON_RPC, _REPLY, sign_in.unknown_method_answered),
    Check(
        "sign-in", "authenticate", "v1/authentication",
        "After successful authentication, the Client can create new sessions without receiving an"
        " auth_required error for authentication-gated requests.",
        sign_in.authenticate,
    ),
    Check(
        "sign-in", "logout", "v1/authentication",
        "After a successful logout, new sessions that require authentication will require the user to"
        " complete one of the advertised authentication flows again.",
        sign_in.logout,
    ),
    # ---------------------------------------------------------------------------------- MCP
    Check(
        "MCP", "mcp-stdio", "v1/session-setup",
        "All Agents MUST support connecting to MCP servers via stdio (standard input/output).",
        mcp_servers.stdio,
    ),
    Check(
        "MCP", "mcp-stdio-arguments", "v1/session-setup",
        "Command-line arguments to pass to the server",
        mcp_servers.stdio_arguments,
    ),
    Check(
        "MCP", "mcp-stdio-environment", "v1/session-setup",
        "Environment variables to set when launching the server",
        mcp_servers.stdio_environment,
    ),
    Check(
        "MCP", "mcp-http", "v1/initialization",
        "The Agent supports connecting to MCP servers over HTTP.",
        mcp_servers.http,
    ),
    Check(
        "MCP", "mcp-http-headers", "v1/session-setup",
        "HTTP headers to include in requests to the server",
        mcp_servers.http_headers,
    ),
    Check(
        "MCP", "mcp-sse", "v1/initialization",
        "The Agent supports connecting to MCP servers over SSE.",
        mcp_servers.sse,
    ),
    Check(
        "MCP", "mcp-sse-headers", "v1/session-setup",
        "HTTP headers to include when establishing the SSE connection",
        mcp_servers.sse_headers,
    ),
    Check("MCP", "mcp-unreachable-server", JSON_RPC, _REPLY, mcp_servers.unreachable),
    Check(
        "MCP", "mcp-tool-call", "v1/tool-calls",
        "When the language model requests a tool invocation, the Agent SHOULD report it to the Client",
        mcp_servers.tool_call,
    ),
    # ---------------------------------------------------------------------------------- elicitation
    Check(
        "elicitation", "elicitation-mode-declared", "v1/elicitation",
        "Agents MUST NOT request a mode the Client has not advertised.",
        elicitation.mode_declared,
    ),
    Check(
        "elicitation", "elicitation-mode", "v1/elicitation",
        "ACP also requires mode explicitly; it does not apply MCP's omitted-mode form default.",
        elicitation.mode_given,
    ),
    Check(
        "elicitation", "elicitation-scope", "v1/schema",
        "Elicitations are tied to a session (optionally a tool call) or a request.",
        elicitation.scope,
    ),
    Check(
        "elicitation", "elicitation-form", "v1/elicitation",
        "Form schemas are flat objects whose properties use the supported primitive and enum schemas.",
        elicitation.flat_form,
    ),
    Check(
        "elicitation", "elicitation-no-secret", "v1/elicitation",
        "Form mode MUST NOT be used to request secrets or credentials that grant access or authorize"
        " transactions",
        elicitation.no_secret,
    ),
    Check("elicitation", "elicitation-accepted", "v1/prompt-turn", _TURN_ENDS, elicitation.accepted),
    Check("elicitation", "elicitation-declined", "v1/elicitation", _DECLINED, elicitation.declined),
    Check("elicitation", "elicitation-dismissed", "v1/elicitation", _DECLINED, elicitation.dismissed),
    Check("elicitation", "elicitation-failed", "v1/elicitation", _DECLINED, elicitation.failed),
    Check(
        "elicitation", "elicitation-turn-cancelled", "v1/prompt-turn",
        "After all ongoing operations have been successfully aborted and pending updates have been sent,"
        " the Agent MUST respond to the original session/prompt request with the cancelled stop reason.",
        elicitation.turn_cancelled,
    ),
    Check(
        "elicitation", "elicitation-url", "v1/elicitation",
        "The Agent MUST keep each elicitationId unique among outstanding URL elicitations on that"
        " Agent-Client connection, and the Client MUST treat it as opaque.",
        elicitation.url,
    ),
    Check(
        "elicitation", "schema-elicitation", _SCHEMA,
        "CreateElicitationRequest: Request from the agent to elicit structured user input.",
        schema_of_call("elicitation/create"),
    ),
    # ---------------------------------------------------------------------------------- steering
    Check("steering", "steering-without-turn", STEERING_PAGE, _STEERING, steering.without_turn),
    Check("steering", "steering-in-turn", STEERING_PAGE, _STEERING, steering.in_turn),
    # ---------------------------------------------------------------------------------- subagents
    Check(
        "subagents", "subagents-declared", "v1/draft/schema",
        "The client must advertise this capability before the agent sends subagent updates or"
        " session-directed messages.",
        subagents.capability_required,
    ),
    Check(
        "subagents", "subagents-announced", "v1/draft/schema",
        "The first update for an unknown sessionId announces the child and MUST be sent before any live child"
        " traffic or live message naming the child as sender or recipient.",
        subagents.announced_first,
    ),
    Check(
        "subagents", "subagents-session-id", "v1/draft/schema",
        "The opaque session ID identifying the child in all ACP messages.",
        subagents.own_session_id,
    ),
    Check(
        "subagents", "subagents-states", "v1/draft/schema",
        "Values beginning with _ are reserved for implementation-specific extensions. Other unknown"
        " values are reserved for future ACP variants.",
        subagents.states,
    ),
    Check(
        "subagents", "subagents-folders", "v1/draft/schema",
        "The child's working directory. Must be an absolute path.",
        subagents.absolute_folders,
    ),
    Check(
        "subagents", "subagents-cancel", "v1/draft/schema",
        "Permits the client to cancel this child's current work without ending the session.",
        subagents.cancelled,
    ),
    # ---------------------------------------------------------------------------------- extensions
    Check(
        "extensions", "custom-request-answered", "v1/extensibility",
        "Upon receiving a custom request, implementations MUST respond accordingly with the provided id",
        extensions.custom_request_answered,
    ),
    Check(
        "extensions", "custom-request-refused", "v1/extensibility",
        "If the receiving end doesn't recognize the custom method name, it should respond with the standard"
        ' "Method not found" error',
        extensions.custom_request_refused,
    ),
    Check(
        "extensions", "unknown-request-refused", JSON_RPC,
        "-32601 Method not found: The method does not exist / is not available.",
        extensions.unknown_request_refused,
    ),
    Check(
        "extensions", "custom-notification-ignored", "v1/extensibility",
        "Unlike with custom requests, implementations SHOULD ignore unrecognized notifications.",
        extensions.custom_notification_ignored,
    ),
    Check(
        "extensions", "unknown-notification-ignored", JSON_RPC, _NO_REPLY,
        extensions.unknown_notification_ignored,
    ),
    Check("extensions", "meta-in-session-new", "v1/extensibility", _META, extensions.meta_in_session_new),
    Check("extensions", "meta-in-prompt", "v1/extensibility", _META, extensions.meta_in_prompt),
    Check(
        "extensions", "own-extensions-underscore", "v1/extensibility",
        "In addition to the requests specified by the protocol, implementations MAY expose and call"
        " custom JSON-RPC requests as long as their name starts with an underscore (_).",
        violation("extension-without-underscore"),
    ),
    # ---------------------------------------------------------------------------------- robustness
    Check("robustness", "zero-id", JSON_RPC, _SAME_ID, robustness.zero_id),
    Check("robustness", "string-id", JSON_RPC, _SAME_ID, robustness.string_id),
    Check("robustness", "large-id", JSON_RPC, _SAME_ID, robustness.large_id),
    Check(
        "robustness", "key-order", JSON,
        "An object is an unordered set of name/value pairs.",
        robustness.key_order,
    ),
    Check(
        "robustness", "json-spelling", JSON,
        "Whitespace can be inserted between any pair of tokens.",
        robustness.json_spelling,
    ),
    Check(
        "robustness", "null-fields", "v1/schema",
        "Optional. Omitted and null are equivalent and mean no metadata.",
        robustness.nulls,
    ),
    Check(
        "robustness", "unicode", "v1/transports",
        "JSON-RPC messages MUST be UTF-8 encoded.",
        robustness.unicode_text,
    ),
    Check(
        "robustness", "long-message", "v1/transports",
        "Messages are delimited by newlines (\\n), and MUST NOT contain embedded newlines.",
        robustness.long_message,
    ),
    Check(
        "robustness", "big-prompt", "v1/content",
        "All Agents MUST support text content blocks when included in prompts.",
        robustness.big_prompt,
    ),
    Check("robustness", "empty-prompt", JSON_RPC, _REPLY, robustness.empty_prompt),
    Check("robustness", "pipelined-requests", JSON_RPC, _REPLY, robustness.pipelined_requests),
    Check(
        "robustness", "second-session", "v1/session-setup",
        "Each session maintains its own context, conversation history, and state, allowing multiple"
        " independent interactions with the same Agent.",
        robustness.second_session,
    ),
    Check("robustness", "second-prompt", JSON_RPC, _REPLY, robustness.second_prompt),
    Check("robustness", "request-during-turn", JSON_RPC, _REPLY, robustness.request_during_turn),
    Check(
        "robustness", "cancel-request", "v1/cancellation",
        "MUST send one of these responses for the original request: - A valid response with appropriate"
        " data (such as partial results or cancellation marker) - An error response with code -32800"
        " (Request Cancelled)",
        robustness.cancel_request,
    ),
    Check(
        "robustness", "cancel-request-of-nothing", JSON_RPC, _NO_REPLY, robustness.cancel_request_of_nothing
    ),
    Check(
        "robustness", "cancel-of-unknown-session", JSON_RPC, _NO_REPLY, robustness.cancel_of_unknown_session
    ),
    Check("robustness", "late-permission", "v1/prompt-turn", _TURN_ENDS, robustness.late_permission),
    Check("robustness", "failed-permission", "v1/prompt-turn", _TURN_ENDS, robustness.failed_permission),
    Check(
        "robustness", "permission-after-cancel", "v1/prompt-turn",
        "Once a prompt turn completes, the Client may send another session/prompt to continue the"
        " conversation",
        robustness.permission_answered_after_cancel,
    ),
)  # fmt: skip
"""All checks, in the order of the report. Names are unique."""
