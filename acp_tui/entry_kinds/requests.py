"""The entry kinds for permission requests and other questions that the agent asks the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from acp_tui.entry_kinds.blocks import Aside, Block
from acp_tui.entry_labels import (
    answered_by,
    asking_subagent,
    elicitation_asker,
    permission_title,
    permission_verdict,
)
from acp_tui.session.safe_text import escape_line, visible_excerpt

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import Elicitation, Permission, Session

MAX_PROGRESS = 200
"""The maximum number of characters of a question in what `acp-tui exec` prints as progress."""

# --------------------------------------------------------------------------- permissions


def permission_lines(permission: Permission, context: TextContext) -> Iterator[str]:
    title = permission_title(permission, context.session, "")
    by = _asked_by(permission, context.session)
    yield f"? Permission: {title}{by}: {_outcome(permission)}"
    if permission.why:
        yield f"  {permission.why}"
    if permission.reason:
        yield f'  Reason: "{permission.reason}"'


def _asked_by(request: Permission | Elicitation, session: Session) -> str:
    """Return the name of the asking subagent, in parentheses; an empty string if no known subagent asks."""
    subagent = asking_subagent(request, session)
    return f" (subagent: {escape_line(subagent.name)})" if subagent is not None else ""


def _outcome(permission: Permission) -> str:
    if permission.outcome is None:
        options = ", ".join(option.name for option in permission.options)
        state = "not answered" if permission.answerable else "cannot be answered: the request has no id"
        return f"{state} (offered: {options})"
    option = permission.option
    answer = f"{option.name} ({option.kind})" if option else permission.outcome
    return f"{answer}, by {permission.by}" if permission.by else answer


def permission_search_text(permission: Permission, session: Session) -> Iterable[str]:
    call = session.tool_calls.get(permission.call_id)
    answer = permission.option.name if permission.option is not None else ""
    title = call.title if call is not None else ""
    return [title, permission.subject, answer, permission.why or "", permission.reason]


def permission_blocks(permission: Permission, context: TextContext) -> Iterable[Block]:
    sign, words, style = permission_verdict(permission)
    title = permission_title(permission, context.session, context.cwd)
    by = answered_by(permission)
    level: Any = style if style in ("success", "warning", "error") else "info"
    title += _asked_by(permission, context.session)
    return [Aside(level, sign, escape_line(f"{words}: {title}{f' — {by}' if by else ''}"))]


# --------------------------------------------------------------------------- elicitations


def elicitation_lines(question: Elicitation, context: TextContext) -> Iterator[str]:
    """Yield a question as plain text: its message, its URL if any, and its outcome, such as `accept`.

    The user's answers are not recorded.
    """
    yield f"? Question ({question.mode}){_asked_by(question, context.session)}: {question.message}"
    if question.url:
        yield f"  {question.url}"
    if question.raw is not None:
        yield f"  {visible_excerpt(question.raw, MAX_PROGRESS)}"
    yield f"  {question.outcome or 'not answered'}" + (" and finished" if question.completed else "")


def elicitation_progress(question: Elicitation) -> str | None:
    """Return a line about a declined question; None for other outcomes."""
    if question.outcome != "decline":
        return None
    asked = visible_excerpt(question.message, MAX_PROGRESS)
    return f"question declined, because `acp-tui exec` cannot ask you: {asked}"


def elicitation_search_text(question: Elicitation, _session: Session) -> Iterable[str]:
    return [question.message, question.url or ""]


def elicitation_blocks(question: Elicitation, context: TextContext) -> Iterable[Block]:
    outcome = question.outcome or "not answered"
    asker = elicitation_asker(question, context.session)
    text = f"{asker} asks: {escape_line(question.message)} — {outcome}"
    return [Aside("info", "?", text, escape_line(question.url or ""))]
