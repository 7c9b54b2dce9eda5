"""Checks of the agent's tool calls and of its permission requests, which refer to tool calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

FINAL_STATUSES = frozenset({"completed", "failed"})
ACTING_KINDS = ("edit", "execute", "delete", "move")  # a tuple, because a faulty kind can be unhashable


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

    def update(self, update: dict[str, Any], *, announced: bool) -> None:
        """Check an update: a `tool_call` if `announced` is true, otherwise a `tool_call_update`."""
        identity = str(update.get("toolCallId"))
        call = self._calls.get(identity)
        if call is None:
            if not announced:
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

    def permission(self, params: dict[str, Any], *, has_id: bool, in_turn: bool) -> None:
        """Check a permission request."""
        self._asked = True
        call = params.get("toolCall")
        call = call if isinstance(call, dict) else {}
        if not has_id:
            self._report("permission-without-id", "a permission request has no id and cannot be answered")
        if not in_turn:
            self._report("permission-outside-turn", "permission was requested outside of a turn")
        if str(call.get("toolCallId")) not in self._calls:
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

    def end_turn(self) -> None:
        """Report the calls that have not ended when a turn ends, and unknown terminals. Each only once."""
        for name in sorted(self._named_terminals - self._terminals):
            self._report("unknown-terminal", "a tool call names a terminal that does not exist", name)
        self._named_terminals.clear()
        for call in self._calls.values():
            if call.status not in FINAL_STATUSES and not call.reported_open:
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
