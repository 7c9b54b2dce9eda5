"""Builds the result that `exec --output json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.errors import UserError
from acp_tui.session.change import innermost
from acp_tui.session.events import Decided, Noticed
from acp_tui.session.state import AgentMessage, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.controller import Conversation
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.state import Entry, RpcError, Session, Usage


class RunLog:
    """Collects the permission decisions of a run, and the faults in what the agent sent."""

    def __init__(self) -> None:
        self.decisions: list[dict[str, Any]] = []
        self._faulty: dict[int, Entry] = {}

    @property
    def warnings(self) -> list[dict[str, str]]:
        """The faults in what the agent sent, such as messages of an unknown kind and refused requests."""
        found = (kind_of(entry).warning(entry) for entry in self._faulty.values())
        return [{"text": warning[0], "detail": warning[1]} for warning in found if warning is not None]

    def add(self, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Record the decisions among the events, and the warnings among the changed entries."""
        for event in events:
            self._add_decision(event)
        for change in changes:
            entry = innermost(change).entry
            if entry is not None and kind_of(entry).warning(entry) is not None:
                self._faulty[id(entry)] = entry

    def _add_decision(self, event: Event) -> None:
        if isinstance(event, Decided):
            outcome = {True: "allowed", False: "rejected", None: "cancelled"}[event.allowed]
            self.decisions.append(
                {"asked": event.subject, "outcome": outcome, "by": event.by, "why": event.why}
            )


async def build_result(conversation: Conversation, run_log: RunLog, failure: str | None) -> dict[str, Any]:
    """Return the result of the run as JSON data."""
    session = conversation.session
    agent = session.agent
    result: dict[str, Any] = {
        "agent": {"name": agent.name, "title": agent.title, "version": agent.version} if agent else None,
        "cwd": str(conversation.cwd),
        "sessionId": session.session_id,
        "stopReason": session.stop_reason,
        "text": answer_text(session),
        "toolCalls": [
            _tool_call(entry) for entry in session.entries if isinstance(entry, ToolCall) and not entry.served
        ],
        "permissions": run_log.decisions,
        "warnings": run_log.warnings,
        "changedFiles": await _changed_files(conversation),
        "usage": _usage(session.usage),
        "log": conversation.log_path,
    }
    if failure is not None:
        result["error"] = {"message": failure, **_error(session.last_error)}
    return result


async def _changed_files(conversation: Conversation) -> list[dict[str, Any]] | None:
    """Return the changed files.

    If they cannot be determined, add a warning to the conversation and return None.
    """
    try:
        changes = await conversation.changes()
    except UserError as error:
        conversation.note(Noticed("warning", str(error)))
        return None
    return [
        {"path": str(change.path), "change": change.kind, "canBeReverted": change.revertable}
        for change in changes
    ]


def answer_text(session: Session) -> str:
    """Return the agent's messages of the last turn, separated by blank lines."""
    messages = [
        entry.text
        for entry in session.entries
        if isinstance(entry, AgentMessage) and entry.turn == session.turn and entry.text.strip()
    ]
    return "\n\n".join(messages)


def _tool_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "locations": [{"path": place.path, "line": place.line} for place in call.locations],
    }


def _usage(usage: Usage) -> dict[str, Any]:
    cost = usage.cost
    return {
        "used": usage.used,
        "size": usage.size,
        "cost": {"amount": cost.amount, "currency": cost.currency} if cost else None,
        "tokens": usage.tokens,
    }


def _error(error: RpcError | None) -> dict[str, Any]:
    return {} if error is None else {"code": error.code, "detail": error.detail}
