"""Who asks a question of the agent, and what the question belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.text import visible_line
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from acp_tui.session.state import Elicitation, Session

MAX_AGENT_WIDTH = 40
MAX_SESSION_WIDTH = 24
MAX_CALL_WIDTH = 200


def asker_of(agent: str, question: Elicitation, session: Session) -> str:
    """Return who asks: the agent, and the subagent or the session if it is not the conversation's own."""
    agent = shorten(agent, MAX_AGENT_WIDTH)
    if not question.session_id:
        return agent
    subagent = session.subagents.get(question.session_id)
    if subagent is not None:
        return f"{agent} (subagent: {shorten(visible_line(subagent.name), MAX_SESSION_WIDTH)})"
    return f"{agent} (session {shorten(visible_line(question.session_id), MAX_SESSION_WIDTH)})"


def purpose_of(question: Elicitation, session: Session) -> str:
    """Return what the question belongs to, such as a tool call; empty if the agent does not say."""
    if question.call_id is not None:
        subagent = session.subagents.get(question.session_id)
        calls = subagent.session.tool_calls if subagent is not None else session.tool_calls
        call = calls.get(question.call_id)
        title = call.title if call is not None and call.title else question.call_id
        return f"tool call: {shorten(' '.join(visible_line(title).split()), MAX_CALL_WIDTH)}"
    if question.for_method == "authenticate":
        return "signing in"
    return f"the request {visible_line(question.for_method)}" if question.for_method else ""
