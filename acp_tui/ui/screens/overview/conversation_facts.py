"""What the overview shows of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.tool_call import changed_paths
from acp_tui.session.state import ToolCall

if TYPE_CHECKING:
    from acp_tui.session.state import Session
    from acp_tui.ui.widgets.status.status_facts import StatusFacts


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """A conversation's status and work so far. Texts are safe to display."""

    status: StatusFacts
    activity: str = ""  # the tool call that runs
    changed_files: int = 0


def running_call(session: Session) -> str:
    """Return the title of the newest tool call that is running; empty if there is none.

    Considers only the tool calls at the end of the transcript.
    """
    for entry in reversed(session.entries):
        if isinstance(entry, ToolCall) and entry.status in ("pending", "in_progress"):
            return entry.title
        if not isinstance(entry, ToolCall):
            break
    return ""


def changed_files(session: Session) -> int:
    """Return the number of files that the completed tool calls of a session and its subagents changed."""
    subagents = (subagent.session for subagent in session.subagents.values())
    calls = (entry for each in (session, *subagents) for entry in each.entries if isinstance(entry, ToolCall))
    return len({path for call in calls for path in changed_paths(call)})
