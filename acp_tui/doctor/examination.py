"""The examination of one agent: it is started, opens a session, holds a turn if wanted, and is ended."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acp_tui.cli.headless import HeadlessRun
from acp_tui.doctor.violations import Violation, find_violations
from acp_tui.entry_display import call_title
from acp_tui.session.nesting import limit_depth
from acp_tui.session.state import AgentMessage, Permission, Thought, ToolCall

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import Agent, ConfigOption, Session

PROGRESS_INTERVAL_SECONDS = 3.0
"""How often it is said what is being waited for."""


async def examine(args: argparse.Namespace, agent: str | None, prompt: str | None) -> dict[str, Any]:
    """Everything there is to say about the agent, as plain data."""
    # Agents name their terminal sign-in only if it is declared. It runs only with --sign-in.
    headless = HeadlessRun(args, agent, terminal_sign_in=True)
    conversation, session = headless.conversation, headless.conversation.session
    records: list[Record] = []
    seconds: dict[str, float] = {}

    def keep(record: Record, _events: Sequence[Event], _changes: Sequence[Change]) -> None:
        records.append(record)

    async def ask() -> None:
        began = time.monotonic()
        with _sign_of_life("initialize"):
            await conversation.start()
        seconds["initialize"] = time.monotonic() - began
        began = time.monotonic()
        with _sign_of_life("session/new"):
            await headless.open()
        seconds["session"] = time.monotonic() - began
        if prompt is not None:
            began = time.monotonic()
            with _sign_of_life("session/prompt"):
                await conversation.prompt([{"type": "text", "text": prompt}])
            seconds["turn"] = time.monotonic() - began

    conversation.listen(keep)
    try:
        await headless.work(ask())
    finally:
        await headless.close()
    deviations = find_violations(records)
    if session.process and session.process.signal in ("SIGTERM", "SIGKILL"):
        sentence = f"it did not end when its input was closed, and was ended by {session.process.signal}"
        deviations.append(Violation("outlives-its-input", sentence))
    return {
        "started": session.process is not None and session.process.pid is not None,
        "agent": _agent(session.agent),
        "command": shlex.join(conversation.launch.command),
        "cwd": str(conversation.options.cwd),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        **_offers(session),
        "turn": _turn(session, conversation.options.policy) if "turn" in seconds else None,
        "deviations": [
            {"check": one.check, "sentence": one.sentence, "count": one.count, "example": one.example}
            for one in deviations
        ],
        "error": headless.failure,
        "stderr": session.process.stderr_tail[-10:] if session.process and headless.failure else [],
        "log": conversation.log_path,
    }


@contextmanager
def _sign_of_life(method: str) -> Iterator[None]:
    """Say on stderr what is being waited for when it takes long."""
    began = time.monotonic()

    async def say() -> None:
        while True:
            await asyncio.sleep(PROGRESS_INTERVAL_SECONDS)
            seconds = time.monotonic() - began
            print(
                f"acp-tui: waiting for the answer to {method} ({seconds:.0f} s)", file=sys.stderr, flush=True
            )

    task = asyncio.create_task(say())
    try:
        yield
    finally:
        task.cancel()


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


def _offers(session: Session) -> dict[str, Any]:
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
        entry.call_id: f"policy {policy}" if entry.by == "policy" else "a rule"
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
