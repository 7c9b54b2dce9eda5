"""Finds the tool calls behind a permission request that does not say what will be done.

OpenHands asks "Confirm Agent Actions" with the id of an otherwise unknown tool call. It announces the calls
in question in other messages, shortly before or after the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import call_title
from acp_tui.session.text.safe_text import visible_json
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.entries.renderers import make_body
from acp_tui.ui.widgets.long_text import LongText

if TYPE_CHECKING:
    from acp_tui.controller.requests.user_questions import Question
    from acp_tui.session.state import Session, ToolCall
    from acp_tui.ui.drawing.body import Body, DrawContext


def names_nothing(question: Question) -> bool:
    """Return True if a permission request names no command, file, tool or input."""
    call, subject = question.call, question.subject
    if call is None or call.content or call.locations or call.raw_input:
        return False
    return not (subject.targets or subject.command or subject.argv or subject.tool)


def calls_in_progress(question: Question, session: Session) -> list[ToolCall]:
    """Return the calls that a request without any details could be about; an empty list for other requests.

    These calls are in progress, and no pending permission request names them.
    """
    if not names_nothing(question):
        return []
    asked = {permission.call_id for permission in session.permissions.values()}
    return [
        call
        for call in session.reducer_state.open_calls.values()
        if call is not question.call and call.call_id not in asked
    ]


def calls_bodies(question: Question, context: DrawContext) -> list[list[Body]]:
    """Draw a heading, then each call in progress in full, as in the transcript; nothing if there is none."""
    calls = calls_in_progress(question, context.session)
    if not calls:
        return []
    words = "The agent did not say what this is about. In progress:"
    head = LinesBody(
        hanging_lines([], [Segment(words, context.palette.warning)], context.width, indent=0), ""
    )
    return [[head], *([make_body(call, context)] for call in calls)]


def raw_bodies(question: Question, context: DrawContext) -> list[Body]:
    """Draw the raw input of each call in progress."""
    bodies: list[Body] = []
    for call in calls_in_progress(question, context.session):
        title = Segment(f"raw input of {call_title(call, context.cwd)}", context.palette.dim)
        text = visible_json(call.raw_input) if call.raw_input else "none"
        bodies.append(LinesBody(hanging_lines([], [title], context.width, indent=0), ""))
        bodies.append(LongText(text, context.palette.text, context.width))
    return bodies
