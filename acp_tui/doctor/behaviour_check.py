"""Named checks of what an agent does, beyond the shape of its messages.

Each check is one method named after it; `protocol.md` of the specification and the traffic of real agents
gave the list. A check tells of something that has broken a client somewhere.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from acp_tui.connection.agent_requests import CLIENT_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.record import Record

    Report = Callable[[str, str, str | None], None]

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
KNOWN_UPDATES = UPDATES_BETWEEN_TURNS | {
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
AGENT_METHODS = CLIENT_METHODS | {"session/update", "elicitation/complete", "$/cancel_request"}
CLIENT_ONLY_METHODS = frozenset(
    {"initialize", "authenticate", "session/new", "session/prompt", "session/cancel"}
)
"""What only clients send."""
MANY_THOUGHTS = 200
SESSION_METHODS = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
REPLAY_METHODS = frozenset({"session/load", "session/resume"})
FINAL_STATUSES = frozenset({"completed", "failed"})


class BehaviourCheck:
    """Watches one connection, record by record."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._capabilities: dict[str, Any] = {}
        self._asked: dict[object, tuple[str, Any]] = {}  # our open requests: method, params
        self._answered: set[object] = set()
        self._waiting: set[object] = set()  # ids of its requests that we have not answered
        self._session: str | None = None
        self._opening = False
        self._turns = 0  # prompts without an answer; more than one where prompts are queued
        self._cancelled = False
        self._words = 0  # updates with content in this turn
        self._prompt = ""
        self._echo = ""
        self._calls: dict[str, dict[str, Any]] = {}  # tool calls: status, kind, announced
        self._permissions = 0
        self._modes: set[str] = set()  # those that the session offers; empty: it offers none
        self._thoughts = 0  # of this turn
        self._thought: object = None  # the one that is going on, by its id; None: something else came since

    def see(self, record: Record) -> None:
        """Take the next record."""
        frame = record.frame
        if record.direction == "client":
            return
        if not isinstance(frame, dict):
            if record.direction == "received":
                what = "stdout-noise" if isinstance(frame, str) else "malformed-envelope"
                self._say(what, "the agent's standard output holds more than protocol messages", frame)
            return
        if record.direction == "sent":
            self._sent(frame)
        elif "method" in frame:
            self._called(frame)
        else:
            self._answer(frame)

    def end(self) -> None:
        """The last record was seen."""
        acted = any(
            call["status"] == "completed"
            and call["kind"] in ("edit", "execute", "delete", "move")
            and not call["served"]
            for call in self._calls.values()
        )
        if acted and not self._permissions:
            self._say("acts-without-asking", "it edited or ran something and never asked for permission")

    # ---- one direction each

    def _sent(self, frame: dict[str, Any]) -> None:
        method, params = frame.get("method"), frame.get("params") or {}
        if method is None:
            self._waiting.discard(_hashable(frame.get("id")))
            return
        if "id" in frame:
            self._asked[frame["id"]] = (method, params)
        if method == "initialize":
            self._capabilities = params.get("clientCapabilities") or {}
        elif method in SESSION_METHODS:
            self._opening = True
            if method in REPLAY_METHODS:  # what it says of it before it answers is the replay
                self._session = params.get("sessionId")
        elif method == "session/prompt":
            self._turns += 1
            self._cancelled, self._words, self._echo = False, 0, ""
            self._thoughts, self._thought = 0, None
            prompt = params.get("prompt")
            self._prompt = prompt if isinstance(prompt, str) else _texts(prompt)
        elif method == "session/cancel":
            self._cancelled = True

    def _answer(self, frame: dict[str, Any]) -> None:
        identity = frame.get("id")
        if not isinstance(identity, (int, str)) or identity not in self._asked:
            check = "answered-twice" if _hashable(identity) in self._answered else "answer-to-nothing"
            self._say(check, "an answer names no request that waits for one", frame)
            return
        method, params = self._asked.pop(identity)
        self._answered.add(identity)
        error, result = frame.get("error"), frame.get("result")
        if error is not None:
            self._error(method, error)
        result = result if isinstance(result, dict) else {}
        if method == "initialize":
            self._initialized(params, result)
        elif method in SESSION_METHODS:
            self._opened(result, params)
        elif method == "session/prompt":
            self._turn_ended(result, failed=error is not None)

    def _called(self, frame: dict[str, Any]) -> None:
        method, params = frame["method"], frame.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            return
        if (identity := _hashable(frame.get("id"))) is not None:
            if identity in self._waiting:
                self._say("request-id-twice", "a request has the id of one that still waits", frame)
            self._waiting.add(identity)
        if method in CLIENT_ONLY_METHODS:
            self._say("own-messages-back", "the agent sends our own messages back")
            return
        if method not in AGENT_METHODS:
            if not method.startswith("_"):
                self._say(
                    "extension-without-underscore",
                    f"{method} is not in the protocol and has no leading underscore",
                )
            return
        if method == "session/update":
            update = params.get("update")
            if isinstance(update, dict):
                self._updated(params.get("sessionId"), update)
            return
        self._undeclared(method, params)
        self._serve_calls(method)
        if method == "session/request_permission":
            self._permission(params, has_id="id" in frame)
        for key in ("path", "cwd"):
            self._path(method, params.get(key))

    def _serve_calls(self, method: str) -> None:
        """What an agent has the client do, the client decides on."""
        if method in ("fs/write_text_file", "terminal/create"):
            for call in self._calls.values():
                call["served"] = call["served"] or call["status"] not in FINAL_STATUSES

    # ---- opening

    def _initialized(self, params: dict[str, Any], result: dict[str, Any]) -> None:
        if result and not isinstance(result.get("agentInfo"), dict):
            self._say("no-agent-info", "the answer to initialize does not say who the agent is (agentInfo)")
        version = result.get("protocolVersion")
        if params.get("protocolVersion") == "0.1.0":
            self._say("draft-dialect", "it speaks the 0.1.0 draft of the protocol, not version 1")
        elif isinstance(version, str):
            self._say("version-as-text", f"the protocol version is a text ({version!r}) instead of a number")
        for method in _items(result.get("authMethods")):
            if method.get("type") == "env_var":
                self._say("env-var-auth", "it offers a sign-in by environment variable, removed in July 2026")

    def _opened(self, result: dict[str, Any], params: dict[str, Any]) -> None:
        self._opening = False
        named = (result.get("sessionId"), params.get("sessionId"))
        self._session = next((name for name in named if isinstance(name, str)), self._session)
        modes = result.get("modes")
        modes = modes if isinstance(modes, dict) else {}
        self._modes = {str(mode.get("id")) for mode in _items(modes.get("availableModes"))}
        self._mode(modes.get("currentModeId"))
        if result.get("models") is not None:
            self._say(
                "models-offered", "it offers `models`, which is no longer in the schema (config options are)"
            )

    # ---- turns

    def _turn_ended(self, result: dict[str, Any], *, failed: bool) -> None:
        self._turns -= 1
        reason = result.get("stopReason")
        if not failed and self._cancelled and reason not in (None, "cancelled"):
            self._say(
                "cancel-not-confirmed", f"a cancelled turn ended with {reason!r} instead of 'cancelled'"
            )
        if not failed and reason == "end_turn" and not self._words and not self._cancelled:
            self._say("empty-turn", "a turn ended with nothing said and nothing done")
        for call in self._calls.values():
            if call["status"] not in FINAL_STATUSES and not call["left"]:
                call["left"] = True
                self._say(
                    "tool-left-open", "a tool call was still open when its turn had ended", call["title"]
                )

    def _updated(self, session: Any, update: dict[str, Any]) -> None:
        kind = update.get("sessionUpdate")
        if not isinstance(kind, str) or kind not in KNOWN_UPDATES:
            self._say("unknown-update", f"the update {kind!r} is not in the protocol")
            return
        if self._session is None:
            if self._opening:
                self._say("update-before-session", "updates came before the answer to session/new")
        elif session != self._session:
            self._say("other-session", "an update named a session that is not this one")
        elif not self._turns and not self._opening and kind not in UPDATES_BETWEEN_TURNS:
            self._say("update-outside-turn", f"{kind} came outside any turn")
        if kind != "agent_thought_chunk" and kind not in UPDATES_BETWEEN_TURNS:
            self._thought = None
        if kind == "current_mode_update":
            self._mode(update.get("currentModeId"))
        if kind == "usage_update" and update.get("used") is None:
            self._say("usage-null", "usage_update.used is null")
        elif kind in ("tool_call", "tool_call_update"):
            self._words += 1
            self._tool_call(update, announced=kind == "tool_call")
        elif kind.endswith("_chunk"):
            self._chunk(kind, update)
        else:
            self._words += kind == "plan"

    def _chunk(self, kind: str, update: dict[str, Any]) -> None:
        content = update.get("content")
        if isinstance(content, (str, list)):
            self._say("bare-content", f"the content of {kind} is not one content block")
            self._words += 1
            return
        text = content.get("text") if isinstance(content, dict) else None
        if text == "":
            self._say("empty-chunk", "chunks came without any text")
            return
        self._words += kind != "user_message_chunk"
        if kind == "agent_thought_chunk":
            self._count_thought(update.get("messageId"))
        if kind == "user_message_chunk" and self._turns and isinstance(text, str):
            self._echo += text
            if self._prompt and self._echo.strip() == self._prompt.strip():
                self._say("prompt-echo", "the prompt was sent back as user_message_chunk")

    def _tool_call(self, update: dict[str, Any], *, announced: bool) -> None:
        identity = str(update.get("toolCallId"))
        call = self._calls.get(identity)
        if call is None:
            if not announced:
                self._say(
                    "tool-update-unannounced", "a tool_call_update came for a call that was never announced"
                )
            call = self._calls[identity] = {
                "status": "pending",
                "kind": "other",
                "title": None,
                "left": False,
                "served": False,  # a file or a terminal of the client was used for it
            }
        status = update.get("status")
        if not isinstance(status, str):
            status = None  # the schema check tells
        if status == "pending" and call["status"] not in ("pending", None):
            self._say("status-backwards", "a tool call went back to pending")
        elif status:
            call["status"] = status
        call["kind"] = update.get("kind") or call["kind"]
        call["title"] = update.get("title") or call["title"]
        if announced and update.get("kind") is None:
            self._say("tool-without-kind", "a tool call has no kind")
        for place in _items(update.get("locations")):
            self._path("a tool call's location", place.get("path"))
            if isinstance(place.get("line"), int) and place["line"] < 1:
                self._say("line-below-one", "a location's line is below 1; lines count from 1")
        for item in _items(update.get("content")):
            self._tool_content(item)
        meta = update.get("_meta")
        if isinstance(meta, dict) and any(str(key).startswith("terminal_") for key in meta):
            self._say(
                "own-terminal",
                "the output of its commands comes in `_meta.terminal_*`, not as terminals of ours",
            )

    def _tool_content(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind == "diff":
            self._path("a diff", item.get("path"))
        elif kind == "content":
            block = item.get("content")
            if isinstance(block, dict) and "\x1b[" in str(block.get("text")):
                self._say("ansi-in-text", "text content of a tool call holds terminal escape sequences")
        elif kind != "terminal":
            self._say("bare-tool-content", f"tool content of kind {kind!r} is not in the protocol")

    def _count_thought(self, message_id: Any) -> None:
        identity = message_id if isinstance(message_id, str) else ""
        if self._thought == identity:
            return
        self._thought = identity
        self._thoughts += 1
        if self._thoughts == MANY_THOUGHTS:
            self._say(
                "many-thoughts", f"a turn had {MANY_THOUGHTS} thoughts or more, each a message of its own"
            )

    def _mode(self, mode: Any) -> None:
        if isinstance(mode, str) and self._modes and mode not in self._modes:
            self._say("unknown-mode", "the current mode is not among the available modes", mode)

    # ---- what it asks

    def _permission(self, params: dict[str, Any], *, has_id: bool) -> None:
        self._permissions += 1
        call = params.get("toolCall")
        call = call if isinstance(call, dict) else {}
        if not has_id:
            self._say("permission-without-id", "a permission request has no id and cannot be answered")
        if not self._turns:
            self._say("permission-outside-turn", "a permission was asked for outside any turn")
        if str(call.get("toolCallId")) not in self._calls:
            self._say(
                "permission-unknown-call", "a permission was asked for a tool call that was not announced"
            )
        options = _items(params.get("options"))
        kinds = Counter(str(option.get("kind")) for option in options)
        if any(count > 1 for count in kinds.values()):
            self._say("permission-kind-twice", "a permission request offers several options of one kind")
        if not any(kind.startswith("reject") for kind in kinds):
            self._say("permission-no-reject", "a permission request cannot be rejected")
        if len({str(option.get("optionId")) for option in options}) < len(options):
            self._say("permission-same-id", "options of a permission request share an id")

    def _undeclared(self, method: str, params: dict[str, Any]) -> None:
        files = self._capabilities.get("fs") or {}
        elicitation = self._capabilities.get("elicitation") or {}
        declared = {
            "fs/read_text_file": bool(files.get("readTextFile")),
            "fs/write_text_file": bool(files.get("writeTextFile")),
            "elicitation/create": str(params.get("mode", "form")) in elicitation,
        }.get(method, bool(self._capabilities.get("terminal")) if method.startswith("terminal/") else True)
        if not declared:
            self._say("undeclared-method", f"{method} was called although the client does not offer it")

    # ---- small things

    def _error(self, method: str, error: Any) -> None:
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 100 <= code < 600:
            self._say("http-status-as-code", f"an error answer ({method}) has an HTTP status as its code")

    def _path(self, what: str, path: Any) -> None:
        if isinstance(path, str) and path and not path.startswith("/"):
            self._say(
                "relative-path", f"{what} names a relative path; paths are absolute in the protocol", path
            )

    def _say(self, check: str, sentence: str, example: Any = None) -> None:
        self._report(check, sentence, None if example is None else str(example)[:200])


def _texts(prompt: Any) -> str:
    if not isinstance(prompt, list):
        return ""
    return "".join(str(block.get("text", "")) for block in prompt if isinstance(block, dict))


def _items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; whatever else stands there is a matter for the schema."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _hashable(value: Any) -> object:
    return value if isinstance(value, (int, str)) else None
