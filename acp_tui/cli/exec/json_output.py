"""Builds the result that `exec --output json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.session.events import Decided, Noticed
from acp_tui.session.state import AgentMessage, ToolCall

if TYPE_CHECKING:
    from acp_tui.controller import Conversation
    from acp_tui.session.events import Event
    from acp_tui.session.state import RpcError, Session, Usage


class DecisionLog:
    """Collects the permission decisions of a run."""

    def __init__(self) -> None:
        self.decisions: list[dict[str, Any]] = []

    def add(self, event: Event) -> None:
        """Record the event if it is a decision."""
        if isinstance(event, Decided):
            outcome = {True: "allowed", False: "rejected", None: "cancelled"}[event.allowed]
            self.decisions.append(
                {"asked": event.subject, "outcome": outcome, "by": event.by, "why": event.why}
            )


async def build_result(
    conversation: Conversation, decision_log: DecisionLog, failure: str | None
) -> dict[str, Any]:
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
        "permissions": decision_log.decisions,
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
