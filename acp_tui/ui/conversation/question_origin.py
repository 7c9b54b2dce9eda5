"""Texts that say who asks the user a question, and what the question belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_labels import asking_subagent
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from acp_tui.session.state import Elicitation, Session

MAX_AGENT_WIDTH = 40
MAX_SESSION_WIDTH = 24
MAX_CALL_WIDTH = 200


def asker_of(agent: str, question: Elicitation, session: Session) -> str:
    """Return the agent's name. If a subagent or another session asks, add its name in parentheses."""
    agent = shorten(agent, MAX_AGENT_WIDTH)
    if (subagent := asking_subagent(question, session)) is not None:
        return f"{agent} (subagent: {shorten(visible_line(subagent.name), MAX_SESSION_WIDTH)})"
    if question.session_id:
        return f"{agent} (session {shorten(visible_line(question.session_id), MAX_SESSION_WIDTH)})"
    return agent


def purpose_of(question: Elicitation, session: Session) -> str:
    """Return what the question belongs to, such as a tool call.

    The result is empty if the agent does not name anything, or if the call's title is the question itself.
    """
    if question.call_id is not None:
        subagent = asking_subagent(question, session)
        calls = subagent.session.tool_calls if subagent is not None else session.tool_calls
        call = calls.get(question.call_id)
        title = call.title if call is not None and call.title else question.call_id
        words = " ".join(visible_line(title).split())
        if words == " ".join(visible_line(question.message).split()):
            return ""
        return f"tool call: {shorten(words, MAX_CALL_WIDTH)}"
    if question.for_method == "authenticate":
        return "signing in"
    return f"the request {visible_line(question.for_method)}" if question.for_method else ""
