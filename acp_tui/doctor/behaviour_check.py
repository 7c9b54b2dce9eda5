"""Checks of what an agent does, beyond the shape of its messages.

Each check finds a fault that has broken a client. The list of checks comes from the protocol and from the
traffic of real agents.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from acp_tui.connection.pending_requests import CLIENT_METHODS
from acp_tui.protocol.json_rpc import line_fault
from acp_tui.protocol.v2 import is_version_2
from acp_tui.session.record import INVALID_PARAMS, RESOURCE_NOT_FOUND, Record
from acp_tui.session.safe_text import visible_excerpt
from acp_tui.wire.schema_check import UNSTABLE_UPDATES, Version

FINAL_STATUSES = frozenset({"completed", "failed"})
ACTING_KINDS = ("edit", "execute", "delete", "move")  # a tuple, because a faulty kind can be unhashable
UPDATES_BETWEEN_TURNS = frozenset(
    {
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "notice",
    }
)
KNOWN_UPDATES = (
    UPDATES_BETWEEN_TURNS
    | UNSTABLE_UPDATES
    | {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "plan_update",
        "plan_removed",
        "compaction_update",
        "compaction_summary_chunk",
    }
)
OUTPUT_OF_VERSION_2 = frozenset(
    {"agent_message", "agent_message_chunk", "agent_thought", "agent_thought_chunk", "plan_update"}
)
AGENT_METHODS = CLIENT_METHODS | {"session/update", "elicitation/complete", "$/cancel_request"}
CLIENT_ONLY_METHODS = frozenset(
    {"initialize", "authenticate", "session/new", "session/prompt", "session/cancel"}
)
"""Methods that only a client sends."""
CREATING_METHODS = frozenset({"session/new", "session/fork"})
REPLAY_METHODS = frozenset({"session/load", "session/resume"})
SESSION_METHODS = CREATING_METHODS | REPLAY_METHODS
MANY_THOUGHTS = 200
"""A turn with at least this many separate thoughts is reported as a violation."""
MAX_EXAMPLE_CHARS = 200


class Report(Protocol):
    """A function that reports a violation: the name of the check, a sentence, and an example."""

    def __call__(self, check: str, sentence: str, example: Any = None) -> None: ...


@dataclass(slots=True)
class _ToolCall:
    status: Any = "pending"
    kind: Any = "other"
    title: Any = None
    reported_open: bool = False
    served: bool = False  # the client wrote a file or created a terminal while the call was open


class ToolCallCheck:
    """Checks all tool calls and permission requests of one connection."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._calls: dict[str, _ToolCall] = {}
        self._asked = False  # for any permission
        self._terminals: set[str] = set()  # that exist
        self._named_terminals: set[str] = set()  # in the content of calls

    def update(self, update: dict[str, Any], *, announced: bool, may_create: bool = False) -> None:
        """Check an update: a `tool_call` if `announced` is true, otherwise a `tool_call_update`.

        `may_create`: an update may be the first, as in version 2 of the protocol.
        """
        identity = str(update.get("toolCallId"))
        call = self._calls.get(identity)
        if call is None:
            if not announced and not may_create:
                self._report(
                    "tool-update-unannounced", "a tool_call_update is for a call that was never announced"
                )
            call = self._calls[identity] = _ToolCall()
        self._status(call, update.get("status"))
        call.kind = update.get("kind") or call.kind
        call.title = update.get("title") or call.title
        if announced and update.get("kind") is None:
            self._report("tool-without-kind", "a tool call has no kind")
        for place in objects_in(update.get("locations")):
            check_path(self._report, "a tool call's location", place.get("path"))
            if isinstance(place.get("line"), int) and place["line"] < 1:
                self._report("line-below-one", "a location's line is below 1; lines are numbered from 1")
        for item in objects_in(update.get("content")):
            self._content(item)
        meta = update.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        own = [value for key, value in meta.items() if str(key).startswith("terminal_")]
        for described in objects_in(own):
            self.terminal_created(described.get("terminal_id", identity))
        if own:
            self._report(
                "own-terminal", "command output is sent in `_meta.terminal_*` rather than in terminals"
            )

    def permission(
        self, params: dict[str, Any], *, has_id: bool, in_turn: bool, names_call: bool = True
    ) -> None:
        """Check a permission request. In version 2, it need not name a tool call."""
        self._asked = True
        call = params.get("toolCall")
        call = call if isinstance(call, dict) else {}
        if not has_id:
            self._report("permission-without-id", "a permission request has no id and cannot be answered")
        if not in_turn:
            self._report("permission-outside-turn", "permission was requested outside of a turn")
        if names_call and str(call.get("toolCallId")) not in self._calls:
            self._report(
                "permission-unknown-call",
                "permission was requested for a tool call that was never announced",
                None,
            )
        options = objects_in(params.get("options"))
        kinds = Counter(str(option.get("kind")) for option in options)
        if any(count > 1 for count in kinds.values()):
            self._report("permission-kind-twice", "a permission request has several options of one kind")
        if not any(kind.startswith("reject") for kind in kinds):
            self._report("permission-no-reject", "a permission request has no reject option")
        if len({str(option.get("optionId")) for option in options}) < len(options):
            self._report("permission-same-id", "options of a permission request share an id")

    def mark_served(self) -> None:
        """Mark the unfinished calls as carried out by the client itself. They need no permission request."""
        for call in self._calls.values():
            call.served = call.served or call.status not in FINAL_STATUSES

    def terminal_created(self, terminal_id: Any) -> None:
        """Note that a terminal exists: the client has created it, or the agent has described its own."""
        self._terminals.add(str(terminal_id))

    def end_turn(self, background: Collection[object] = ()) -> None:
        """Report the calls that have not ended when a turn ends, and unknown terminals. Each only once.

        Calls with an id in `background` may go on.
        """
        for name in sorted(self._named_terminals - self._terminals):
            self._report("unknown-terminal", "a tool call names a terminal that does not exist", name)
        self._named_terminals.clear()
        for identity, call in self._calls.items():
            if call.status not in FINAL_STATUSES and not call.reported_open and identity not in background:
                call.reported_open = True
                self._report(
                    "tool-left-open", "a tool call was still open at the end of its turn", call.title
                )

    def finish(self) -> None:
        """Report if the agent itself edited files or ran commands and never asked for permission."""
        acted = any(
            call.status == "completed" and call.kind in ACTING_KINDS and not call.served
            for call in self._calls.values()
        )
        if acted and not self._asked:
            self._report(
                "acts-without-asking", "the agent changed files or ran commands without asking for permission"
            )

    def _status(self, call: _ToolCall, status: Any) -> None:
        if not isinstance(status, str):
            return  # reported by the schema check
        if status == "pending" and call.status != "pending":
            self._report("status-backwards", "a tool call went back to pending")
        elif status:
            call.status = status

    def _content(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind == "diff":
            check_path(self._report, "a diff", item.get("path"))
            for change in objects_in(item.get("changes")):
                check_path(self._report, "a diff", change.get("path"))
        elif kind == "content":
            block = item.get("content")
            if isinstance(block, dict) and "\x1b[" in str(block.get("text")):
                self._report("ansi-in-text", "the text of a tool call contains terminal escape sequences")
        elif kind == "terminal":
            self._named_terminals.add(str(item.get("terminalId")))
        else:
            self._report("bare-tool-content", f"tool content of type {kind!r} is not in the protocol")


def check_path(report: Report, what: str, path: Any) -> None:
    """Report a path if it is relative. `what` says where the path was found, such as "a diff"."""
    if isinstance(path, str) and path and not path.startswith("/"):
        report("relative-path", f"{what} has a relative path; the protocol requires absolute ones", path)


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; [] if `value` is not a list. The schema check reports wrong types."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class _Conversation:
    """One of the sessions of a connection: its tool calls, and its current turn."""

    def __init__(self, report: Report) -> None:
        self.tool_calls = ToolCallCheck(report)
        self.modes: set[str] = set()  # available modes; empty if the agent has none
        self.turns = 0  # unanswered prompts; more than one if prompts are queued
        self.cancelled = False
        self.content_updates = 0  # in this turn
        self.prompt = ""
        self.echo = ""  # text of user_message_chunk in this turn
        self.thoughts = 0  # in this turn
        self.thought: str | None = None  # message id of the current thought; None after any other update

    def begin_turn(self, prompt: str) -> None:
        self.turns += 1
        self.cancelled, self.content_updates, self.echo = False, 0, ""
        self.thoughts, self.thought = 0, None
        self.prompt = prompt


class BehaviourCheck:
    """Checks what the agent does, from the records of one connection.

    For each violation, `report` is called with the name of the check, a sentence, and an example or None.
    """

    def __init__(self, report: Callable[[str, str, str | None], None]) -> None:
        self._report_violation = report
        self._conversations: dict[str | None, _Conversation] = {}  # by session id
        self._capabilities: dict[str, Any] = {}  # ours
        self._requests: dict[object, tuple[str, Any]] = {}  # our pending requests: method, params
        self._answered: set[object] = set()
        self._agent_requests: dict[object, tuple[str, Any]] = {}  # the agent's, likewise
        self._session: str | None = None
        self._session_before: str | None = None  # `_session` before the request to open another one
        self._subagents: set[str] = set()  # the ids of the announced sessions of subagents
        self._opening: str | None = None  # the method of an unanswered request to open a session
        self.version: Version = 1
        """The version of the protocol that the agent speaks."""

    def negotiate(self, frame: Any) -> None:
        """Note the version in a received frame that answers `initialize`."""
        if not isinstance(frame, dict):
            return
        method, _ = self._requests.get(_hashable(frame.get("id")), ("", None))
        if method == "initialize" and isinstance(result := frame.get("result"), dict):
            self.version = 2 if is_version_2(result) else 1

    def _conversation(self, session: Any) -> _Conversation:
        """Return the conversation of a session; that of the session opened last if the session is unknown."""
        if not isinstance(session, str) or session not in self._conversations:
            session = self._session
        if session not in self._conversations:
            self._conversations[session] = _Conversation(self._report)
        return self._conversations[session]

    def check(self, record: Record) -> None:
        frame = record.frame
        if record.direction == "client":
            if frame.get("event") == "noticed" and frame.get("source") == "protocol":
                self._report("stdout-framing", frame["text"])
            return
        if isinstance(frame, list) and self.version == 2:
            for item in frame:
                self.check(Record(record.at, record.direction, item))
        elif isinstance(frame, dict):
            if record.direction == "sent":
                self._sent(frame)
            elif "method" in frame:
                self._call(frame)
            else:
                self._answer(frame)
        elif record.direction == "received" and isinstance(frame, str):
            self._report("stdout-noise", "stdout contains lines that are not protocol messages", frame)
            if (fault := line_fault(frame)) is not None:
                self._report("stdout-framing", f"The agent's {fault}")
        elif record.direction == "received":
            self._report("malformed-envelope", "a message is not a JSON object", frame)

    def finish(self) -> None:
        """Run the checks that need the whole conversation."""
        for conversation in self._conversations.values():
            conversation.tool_calls.finish()

    # ---- messages by direction

    def _sent(self, frame: dict[str, Any]) -> None:
        method, params = frame.get("method"), frame.get("params") or {}
        if method is None:
            answered, session = self._agent_requests.pop(_hashable(frame.get("id")), ("", None))
            self._refused(answered, frame.get("error"))
            if answered == "terminal/create" and isinstance(result := frame.get("result"), dict):
                self._conversation(session).tool_calls.terminal_created(result.get("terminalId"))
            return
        if "id" in frame:
            self._requests[frame["id"]] = (method, params)
        if method == "initialize":
            self._capabilities = params.get("clientCapabilities") or params.get("capabilities") or {}
        elif method in SESSION_METHODS:
            self._opening, self._session_before = method, self._session
            if method in REPLAY_METHODS:  # the updates before its answer are the replay
                self._session = params.get("sessionId")
        elif method == "session/prompt":
            prompt = params.get("prompt")
            if self._opening and isinstance(session := params.get("sessionId"), str):  # probably this one
                self._conversations.setdefault(session, _Conversation(self._report))
            self._conversation(params.get("sessionId")).begin_turn(
                prompt if isinstance(prompt, str) else _text_of(prompt)
            )
        elif method == "session/cancel":
            self._conversation(params.get("sessionId")).cancelled = True

    def _refused(self, method: str, error: Any) -> None:
        """Report a request with which acp-tui could do nothing. Reading a missing file is usual."""
        code = error.get("code") if isinstance(error, dict) else None
        is_terminal = method.startswith("terminal/") and method != "terminal/create"
        if code == INVALID_PARAMS or (code == RESOURCE_NOT_FOUND and is_terminal):
            reason = str(error.get("message")).removeprefix(f"{method}: ")
            self._report("request-refused", f"{method} was refused: {reason}")

    def _answer(self, frame: dict[str, Any]) -> None:
        identity = frame.get("id")
        if not isinstance(identity, (int, str)) or identity not in self._requests:
            if _hashable(identity) in self._answered:
                self._report("answered-twice", "a request was answered twice", frame)
            else:
                self._report("answer-to-nothing", "an answer has an id that no request had", frame)
            return
        method, params = self._requests.pop(identity)
        self._answered.add(identity)
        error, result = frame.get("error"), frame.get("result")
        if error is not None:
            self._error(method, error)
        result = result if isinstance(result, dict) else {}
        if method == "initialize":
            self._initialized(params, result)
        elif method in SESSION_METHODS and error is not None:
            self._opening, self._session = None, self._session_before
        elif method in SESSION_METHODS:
            self._opened(result, params)
        elif method == "session/prompt" and (self.version == 1 or error is not None):
            session = params.get("sessionId") if isinstance(params, dict) else None
            self._turn_ended(self._conversation(session), result, failed=error is not None)

    def _call(self, frame: dict[str, Any]) -> None:
        method, params = frame["method"], frame.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            return
        if (identity := _hashable(frame.get("id"))) is not None:
            if identity in self._agent_requests:
                self._report("request-id-twice", "a request reuses the id of a pending request", frame)
            self._agent_requests[identity] = (method, params.get("sessionId"))
        if method in CLIENT_ONLY_METHODS:
            self._report("own-messages-back", "the agent echoes the client's messages")
        elif method not in AGENT_METHODS:
            if not method.startswith("_"):
                self._report(
                    "extension-without-underscore",
                    f"{method} is not in the protocol; names of extensions begin with an underscore",
                )
        elif method == "session/update":
            update = params.get("update")
            if isinstance(update, dict) and self.version == 2:
                self._update_of_version_2(params.get("sessionId"), update)
            elif isinstance(update, dict) and not self._is_of_subagent(params.get("sessionId"), update):
                self._update(params.get("sessionId"), update)
        else:
            self._request(method, params, has_id="id" in frame)

    def _request(self, method: str, params: dict[str, Any], *, has_id: bool) -> None:
        self._advertised(method, params)
        session = params.get("sessionId")
        conversation = self._conversation(session)
        if method in ("fs/write_text_file", "terminal/create"):
            conversation.tool_calls.mark_served()
        if method == "session/request_permission" and self.version == 2:
            subject = params.get("subject")
            call = subject.get("toolCall") if isinstance(subject, dict) else None
            if isinstance(call, dict):  # an update of the call, and perhaps the first
                conversation.tool_calls.update(call, announced=False, may_create=True)
            asked = {**params, "toolCall": call}
            conversation.tool_calls.permission(
                asked, has_id=has_id, in_turn=True, names_call=call is not None
            )
        elif method == "session/request_permission" and str(session) not in self._subagents:
            conversation.tool_calls.permission(params, has_id=has_id, in_turn=conversation.turns > 0)
        is_other = isinstance(session, str) and not self._is_open(session) and session not in self._subagents
        if is_other and has_id and self._session is not None and self._opening is None:
            self._report("other-session", f"{method} is for another session", session)
        for key in ("path", "cwd"):
            check_path(self._report, method, params.get(key))

    def _is_open(self, session: Any) -> bool:
        return session is not None and (session == self._session or session in self._conversations)

    # ---- opening

    def _initialized(self, params: dict[str, Any], result: dict[str, Any]) -> None:
        if result and not isinstance(result.get("agentInfo" if self.version == 1 else "info"), dict):
            self._report("no-agent-info", "the initialize response has no agentInfo (agent name and version)")
        version = result.get("protocolVersion")
        if params.get("protocolVersion") == "0.1.0":
            self._report("draft-dialect", "the agent speaks the 0.1.0 draft of the protocol, not version 1")
        elif isinstance(version, str):
            self._report(
                "version-as-text", f"the protocol version is a string ({version!r}) instead of a number"
            )
        for method in objects_in(result.get("authMethods")):
            if method.get("type") == "env_var":
                self._report(
                    "env-var-auth",
                    "the agent offers sign-in by environment variable, which ACP dropped in July 2026",
                )

    def _opened(self, result: dict[str, Any], params: dict[str, Any]) -> None:
        self._opening = None
        named = (result.get("sessionId"), params.get("sessionId"))
        self._session = next((name for name in named if isinstance(name, str)), self._session)
        modes = result.get("modes")
        modes = modes if isinstance(modes, dict) else {}
        conversation = self._conversation(self._session)
        conversation.modes = {str(mode.get("id")) for mode in objects_in(modes.get("availableModes"))}
        self._mode(conversation, modes.get("currentModeId"))
        if result.get("models") is not None:
            self._report(
                "models-offered", "the agent offers `models`, which has been replaced by config options"
            )

    # ---- turns

    def _turn_ended(self, conversation: _Conversation, result: dict[str, Any], *, failed: bool) -> None:
        conversation.turns -= 1
        reason = result.get("stopReason")
        if not failed and conversation.cancelled and reason not in (None, "cancelled"):
            self._report(
                "cancel-not-confirmed", f"a cancelled turn ended with {reason!r} instead of 'cancelled'"
            )
        if (
            not failed
            and reason == "end_turn"
            and not (conversation.content_updates or conversation.cancelled)
        ):
            self._report("empty-turn", "a turn ended without any output")
        background = {str(item.get("toolCallId")) for item in objects_in(result.get("background"))}
        conversation.tool_calls.end_turn(background)

    def _is_of_subagent(self, session: Any, update: dict[str, Any]) -> bool:
        """Return True if an update is about a subagent.

        Such updates are not checked: subagents can work outside of turns, and use tool call ids of their own.
        """
        kind = update.get("sessionUpdate")
        if kind == "subagent_update":
            self._subagents.add(str(update.get("sessionId")))
        return str(kind) in UNSTABLE_UPDATES or str(session) in self._subagents

    def _update(self, session: Any, update: dict[str, Any]) -> None:
        kind = update.get("sessionUpdate")
        if not isinstance(kind, str) or kind not in KNOWN_UPDATES:
            return  # reported by the schema check
        is_own = self._is_open(session) if isinstance(session, str) else False
        conversation = self._conversation(session)
        if not is_own and self._opening in CREATING_METHODS:
            self._report("update-before-session", f"updates came before the answer to {self._opening}")
        elif not is_own and self._session is not None and isinstance(session, str):
            self._report("other-session", "an update is for another session", session)
        elif (
            is_own and not conversation.turns and self._opening is None and kind not in UPDATES_BETWEEN_TURNS
        ):
            self._report("update-outside-turn", f"{kind} came outside of a turn")
        if kind != "agent_thought_chunk" and kind not in UPDATES_BETWEEN_TURNS:
            conversation.thought = None
        if kind == "current_mode_update":
            self._mode(conversation, update.get("currentModeId"))
        if kind == "usage_update" and update.get("used") is None:
            self._report("usage-null", "usage_update.used is null")
        elif kind in ("tool_call", "tool_call_update"):
            conversation.content_updates += 1
            conversation.tool_calls.update(update, announced=kind == "tool_call")
        elif kind.endswith("_chunk"):
            self._chunk(conversation, kind, update)
        else:
            conversation.content_updates += kind in ("plan", "compaction_update")

    def _update_of_version_2(self, session: Any, update: dict[str, Any]) -> None:
        """Check an update of version 2, in which work may also go on between turns."""
        kind, conversation = update.get("sessionUpdate"), self._conversation(session)
        if isinstance(session, str) and not self._is_open(session):
            return  # of a subagent, or of a session that is being opened
        if kind == "state_update" and update.get("state") == "idle" and conversation.turns:
            if update.get("stopReason") is not None:
                self._turn_ended(conversation, update, failed=update["stopReason"] == "error")
        elif kind == "tool_call_update":
            conversation.content_updates += 1
            conversation.tool_calls.update(update, announced=False, may_create=True)
        elif kind == "terminal_update":
            conversation.tool_calls.terminal_created(update.get("terminalId"))
            check_path(self._report, "a terminal", update.get("cwd"))
            if isinstance(output := update.get("output"), dict):
                self._output(output.get("data"))
        elif kind == "terminal_output_chunk":
            conversation.content_updates += 1
            self._output(update.get("data"))
        elif kind in OUTPUT_OF_VERSION_2:
            conversation.content_updates += 1

    def _output(self, data: Any) -> None:
        """Check output of one of the agent's terminals. The schema check reports wrong types."""
        try:
            base64.b64decode(data if isinstance(data, str) else "", validate=True)
        except ValueError:
            self._report("output-not-base64", "the output of a terminal is not valid base64", data)

    def _chunk(self, conversation: _Conversation, kind: str, update: dict[str, Any]) -> None:
        content = update.get("content")
        if isinstance(content, (str, list)):
            self._report("bare-content", f"the content of {kind} is not a content block")
            conversation.content_updates += 1
            return
        text = content.get("text") if isinstance(content, dict) else None
        if text == "":
            self._report("empty-chunk", "a chunk has no text")
            return
        conversation.content_updates += kind != "user_message_chunk"
        if kind == "agent_thought_chunk":
            self._count_thought(conversation, update.get("messageId"))
        if kind == "user_message_chunk" and conversation.turns and isinstance(text, str):
            conversation.echo += text
            if conversation.prompt and conversation.echo.strip() == conversation.prompt.strip():
                self._report("prompt-echo", "the prompt was sent back as user_message_chunk")

    def _count_thought(self, conversation: _Conversation, message_id: Any) -> None:
        identity = message_id if isinstance(message_id, str) else ""
        if conversation.thought == identity:
            return
        conversation.thought = identity
        conversation.thoughts += 1
        if conversation.thoughts == MANY_THOUGHTS:
            self._report("many-thoughts", f"a turn has {MANY_THOUGHTS} or more separate thoughts")

    # ---- single values

    def _mode(self, conversation: _Conversation, mode: Any) -> None:
        if isinstance(mode, str) and conversation.modes and mode not in conversation.modes:
            self._report("unknown-mode", "the current mode is not one of the available modes", mode)

    def _advertised(self, method: str, params: dict[str, Any]) -> None:
        files = self._capabilities.get("fs") or {}
        elicitation = self._capabilities.get("elicitation") or {}
        advertised = {
            "fs/read_text_file": bool(files.get("readTextFile")),
            "fs/write_text_file": bool(files.get("writeTextFile")),
            "elicitation/create": str(params.get("mode", "form")) in elicitation,
        }.get(method, bool(self._capabilities.get("terminal")) if method.startswith("terminal/") else True)
        if not advertised:
            self._report("undeclared-method", f"{method} was called although the client does not support it")

    def _error(self, method: str, error: Any) -> None:
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 100 <= code < 600:
            self._report("http-status-as-code", f"the error code in an answer to {method} is an HTTP status")

    def _report(self, check: str, sentence: str, example: Any = None) -> None:
        words = example if isinstance(example, str | None) else visible_excerpt(example, MAX_EXAMPLE_CHARS)
        self._report_violation(check, sentence, None if words is None else words[:MAX_EXAMPLE_CHARS])


def _text_of(prompt: Any) -> str:
    if not isinstance(prompt, list):
        return ""
    return "".join(str(block.get("text", "")) for block in prompt if isinstance(block, dict))


def _hashable(value: Any) -> object:
    return value if isinstance(value, (int, str)) else None
