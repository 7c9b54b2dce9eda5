"""Ends subagents: after the replay of a history, with the tool call that started them, or with the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce import requests
from acp_tui.session.reduce.entries import end_message
from acp_tui.session.reduce.subagents.transcripts import lift
from acp_tui.session.reduce.tool_calls import close_open_calls

if TYPE_CHECKING:
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session


def end_loading(root: Session) -> None:
    """Change the phase of loading subagents to idle. Called when the history has been replayed."""
    for entry in root.subagents.values():
        if entry.session.phase == "loading":
            entry.session.phase = "idle"


def end_all(root: Session, at: float, *, acp_tui_ended: bool) -> list[Change]:
    """End all running subagents, because the agent has exited or acp-tui has ended."""
    changes: list[Change] = []
    for entry in root.subagents.values():
        session = entry.session
        if session.phase != "prompting" and not entry.is_running:
            continue
        session.phase = "idle"
        entry.ended_at = at if entry.is_running else entry.ended_at
        entry.state = "ended"
        inner = [*end_message(session, at), *close_open_calls(session, "unfinished", at)]
        inner += requests.cancel_all(session, acp_tui_ended=acp_tui_ended)
        changes += lift(root, entry, inner)
    return changes


def close_calls(root: Session, at: float) -> list[Change]:
    """If the tool call that started a subagent has ended, end the open calls of this subagent."""
    changes: list[Change] = []
    for entry in root.subagents.values():
        if entry.call is not None and entry.call.done and entry.is_running:
            status = entry.call.status if entry.call.status == "cancelled" else "unfinished"
            changes += lift(root, entry, close_open_calls(entry.session, status, at))
            entry.ended_at = at
    return changes
