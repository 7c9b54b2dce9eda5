"""The report of `doctor` as JSON data."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.behaviour_check import AGENT_METHODS, CLIENT_ONLY_METHODS
from acp_tui.doctor.violations import Violation, find_violations
from acp_tui.entry_labels import call_title
from acp_tui.session.json_depth import limit_depth
from acp_tui.session.state import AgentMessage, Permission, Thought, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_tui.controller import Conversation
    from acp_tui.session.record import Record
    from acp_tui.session.state import Agent, ConfigOption, Session

MAX_STDERR_LINES = 10
"""The maximum number of lines of the agent's stderr in the report after a failure."""


def build_report(
    conversation: Conversation,
    records: Sequence[Record],
    seconds: Mapping[str, float],
    *,
    failure: str | None,
) -> dict[str, Any]:
    """Return the report on an agent that has exited.

    Args:
        conversation: The conversation with the agent.
        records: Everything that was sent and received.
        seconds: The duration of each step that succeeded: `initialize`, `session`, `turn`.
        failure: Why the run failed; None if it did not.
    """
    session = conversation.session
    process = session.process
    deviations = find_violations(records)
    if process and process.outlived_input:
        sentence = "the agent did not exit when its stdin was closed, and had to be ended"
        deviations.append(Violation("outlives-its-input", sentence))
    return {
        "started": process is not None and process.pid is not None,
        "agent": _agent(session.agent),
        "command": shlex.join(conversation.launch.command),
        "cwd": str(conversation.options.cwd),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        **_session_offers(session),
        "extensions": _extensions(records),
        "turn": _turn(session, conversation.options.policy) if "turn" in seconds else None,
        "deviations": [
            {"check": one.check, "sentence": one.sentence, "count": one.count, "example": one.example}
            for one in deviations
        ],
        "error": failure,
        "stderr": process.stderr_tail[-MAX_STDERR_LINES:] if process and failure else [],
        "log": conversation.log_path,
    }


def _agent(agent: Agent | None) -> dict[str, Any] | None:
    if agent is None:
        return None
    return {
        "name": agent.name,
        "title": agent.title,
        "version": agent.version,
        "protocolVersion": agent.protocol_version,
        "capabilities": limit_depth(agent.capabilities),
        "authMethods": [
            {"id": method.id, "name": method.name, "type": method.kind} for method in agent.auth_methods
        ],
    }


def _extensions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the messages of the agent that the protocol does not define, with how often each was sent."""
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        frame = record.frame
        method = frame.get("method") if record.direction == "received" and isinstance(frame, dict) else None
        if isinstance(method, str) and method not in AGENT_METHODS | CLIENT_ONLY_METHODS:
            counts[method, "notification" if frame.get("id") is None else "request"] += 1
    return [{"method": method, "kind": kind, "count": count} for (method, kind), count in counts.items()]


def _session_offers(session: Session) -> dict[str, Any]:
    return {
        "sessionId": session.session_id,
        "modes": {
            "current": session.mode,
            "available": [{"id": mode.id, "name": mode.name} for mode in session.modes],
        },
        "models": {
            "current": session.model,
            "available": [{"id": model.value, "name": model.name} for model in session.models],
        },
        "configOptions": [_option(option) for option in session.config_options],
        "commands": [
            {"name": command.name, "description": command.description, "hint": command.hint}
            for command in session.commands
        ],
    }


def _option(option: ConfigOption) -> dict[str, Any]:
    return {
        "id": option.id,
        "name": option.name,
        "type": option.kind,
        "category": option.category,
        "current": option.current,
        "values": [choice.value for choice in option.choices],
    }


def _turn(session: Session, policy: str) -> dict[str, Any]:
    rejected = {
        entry.call_id: f'policy "{policy}"' if entry.by == "policy" else "a rule"
        for entry in session.entries
        if isinstance(entry, Permission) and entry.by in ("policy", "rule") and _is_rejected(entry)
    }
    entries = [entry for entry in session.entries if entry.turn == session.turn]
    return {
        "stopReason": session.stop_reason,
        "characters": sum(len(entry.text) for entry in entries if isinstance(entry, AgentMessage)),
        "thoughts": sum(isinstance(entry, Thought) for entry in entries),
        "toolCalls": [
            {
                "title": call_title(entry, session.cwd or ""),
                "kind": entry.kind,
                "status": entry.status,
                "rejectedBy": rejected.get(entry.call_id),
            }
            for entry in entries
            if isinstance(entry, ToolCall) and not entry.served
        ],
        "used": session.usage.used,
        "size": session.usage.size,
    }


def _is_rejected(permission: Permission) -> bool:
    option = permission.option
    return permission.outcome == "cancelled" or (option is not None and option.kind.startswith("reject"))
