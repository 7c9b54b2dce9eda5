"""Permission requests and elicitations, and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import add_entry, add_notice, facts_changed, out_of_phase, touch
from acp_tui.session.reduce.notices import add_fault
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.session.state import Elicitation, Permission, Session

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.events import Decided
    from acp_tui.session.record import Change


_GERUNDS = {"read": "reading", "edit": "editing", "run": "running", "use": "using"}


def decision_text(event: Decided, subject: str) -> str:
    """Return a sentence such as "You rejected reading X", or 'Rejected by policy "read-only": edit X'."""
    verdict = {True: "Allowed", False: "Rejected", None: "Cancelled"}[event.allowed]
    why = event.why or ""
    verb, _, rest = subject.partition(" ")
    if event.by == "you" and event.allowed is not None and verb in _GERUNDS:
        detail = f'"{event.reason}"' if event.reason else why.removeprefix("you answered").lstrip(",; ")
        text = f"You {verdict.lower()} {_GERUNDS[verb]} {rest}"
        return f"{text} ({detail})" if detail else text
    if event.by == "rule" and subject:
        return f"{verdict}: {subject} — {why.removeprefix(verdict.lower()).lstrip()}"
    if why.startswith(verdict.lower()):
        verdict, why = why[0].upper() + why[1:], ""
        if event.by == "policy":  # the reason goes to the end, after the subject that it is about
            verdict, _, why = verdict.partition(" because ")
    text = f"{verdict}: {subject}" if subject else verdict
    return f"{text} ({why})" if why else text


def permission_requested(
    session: Session, event: ev.PermissionRequested, at: float, *, subagent: str = ""
) -> list[Change]:
    """Add a permission request. A request without an id is shown, but cannot be answered.

    `subagent` is the key of the subagent that asks; empty for the main agent.
    """
    permission = Permission(
        id=0,
        at=at,
        request_id=event.request_id,
        call_id=event.call_id,
        options=event.options,
        answerable=event.answerable,
        session_id=escape_line(event.session_id),
        subagent=subagent,
        stray=out_of_phase(session),
    )
    if event.answerable:
        session.permissions[event.request_id] = permission
    changes = [*add_entry(session, permission, at), *facts_changed("permissions")]
    if event.session_id and not subagent:
        text = (
            f'The agent asks for permission in the session "{escape_invisible_line(event.session_id)}", '
            "which it has not announced. Such requests are decided like those of this session."
        )
        changes += add_fault(session, text, at)
    return changes


def decided(session: Session, event: ev.Decided, at: float) -> list[Change]:
    """Show who decided a request, and why: in its permission entry if there is one, otherwise in a notice.

    A request that is covered by an earlier approval gets no notice.
    """
    permission = session.permissions.get(event.request_id)
    if permission is not None:
        permission.by, permission.why, permission.rule_ids = event.by, event.why, event.rule_ids
        permission.reason = event.reason
        permission.subject = _relative(event.subject, session)
        return [touch(permission)]
    if event.by == "covered":
        return []
    if not event.allowed and event.request_id is not None:
        session.reducer_state.rejected.add(event.request_id)
    text = decision_text(event, _relative(event.subject, session))
    changes = add_notice(
        session,
        at,
        text,
        level="info" if event.allowed else "warning",
        source=event.by,
        rule_ids=event.rule_ids,
    )
    calls = list(session.reducer_state.open_calls.values())
    if event.waited and len(calls) == 1:  # with several calls, it is unknown which of them waited
        calls[0].waited += event.waited
        changes.append(touch(calls[0]))
    return changes


def _relative(subject: str | None, session: Session) -> str:
    """Return the subject of a decision, with paths relative to the session's directory."""
    return (subject or "").replace(f" {session.cwd}/", " ")


def permission_answered(session: Session, event: ev.PermissionAnswered, at: float) -> list[Change]:
    """Store the answer to a permission request, and how long the tool call waited for that answer."""
    permission = session.permissions.pop(event.request_id, None)
    if permission is None:
        return []
    permission.outcome = event.outcome
    permission.option = next((option for option in permission.options if option.id == event.option_id), None)
    if permission.by is None and session.cancelling:
        permission.by, permission.why = "turn", "The turn was cancelled"
    changes = [touch(permission), *facts_changed("permissions")]
    call = session.tool_calls.get(permission.call_id)
    if call is not None and call.turn == permission.turn and not permission.subagent:
        until = at if call.ended_at is None else call.ended_at
        call.waited += max(0.0, until - max(permission.at, call.at))
        allowed = permission.option is not None and permission.option.kind.startswith("allow")
        if allowed and call.status == "pending":
            call.status = "in_progress"  # many agents report nothing until the call ends
        changes.append(touch(call))
    return changes


def elicitation_requested(
    session: Session, event: ev.ElicitationRequested, at: float, *, subagent: str = ""
) -> list[Change]:
    """Add a question that the agent asks with a form or a URL.

    `subagent` is the key of the subagent that asks; empty for the main agent.
    """
    elicitation = Elicitation(
        id=0,
        at=at,
        request_id=event.request_id,
        mode=event.mode,
        message=event.message,
        url=event.url,
        elicitation_id=event.elicitation_id,
        schema=event.schema,
        call_id=event.call_id,
        session_id=event.session_id,
        subagent=subagent,
        for_method=event.for_method,
        raw=event.raw,
        stray=out_of_phase(session),
    )
    session.elicitations[event.request_id] = elicitation
    if event.elicitation_id is not None:
        session.reducer_state.elicitations[event.elicitation_id] = elicitation
    return [*add_entry(session, elicitation, at), *facts_changed("elicitations")]


def elicitation_answered(session: Session, event: ev.ElicitationAnswered, _at: float) -> list[Change]:
    """Store the outcome of an elicitation, without the answer itself."""
    elicitation = session.elicitations.pop(event.request_id, None)
    if elicitation is None:
        return []
    elicitation.outcome = event.action
    return [touch(elicitation), *facts_changed("elicitations")]


def elicitation_completed(session: Session, event: ev.ElicitationCompleted, _at: float) -> list[Change]:
    """Mark a web form as completed. Unknown ids are ignored, as the protocol requires."""
    elicitation = session.reducer_state.elicitations.pop(event.elicitation_id, None)
    if elicitation is None:
        return []
    elicitation.completed = True
    return [touch(elicitation)]


def request_withdrawn(session: Session, event: ev.RequestWithdrawn, _at: float) -> list[Change]:
    """Mark a request as cancelled by the agent. A later answer to it is ignored."""
    return _close(session, [event.request_id], "The agent withdrew the request")


def cancel_all(session: Session, *, acp_tui_ended: bool) -> list[Change]:
    """Mark all pending requests as cancelled, because the agent has exited or acp-tui has ended."""
    by, why = ("agent", "The agent exited")
    if acp_tui_ended:
        by, why = "acp-tui", "acp-tui ended before you answered"
    return _close(session, [*session.permissions, *session.elicitations], why, by)


def _close(session: Session, requests: list[int | str | None], why: str, by: str = "agent") -> list[Change]:
    changes: list[Change] = []
    for request in requests:
        permission = session.permissions.pop(request, None)
        if permission is not None:
            permission.outcome, permission.by, permission.why = "cancelled", by, why
            changes += [touch(permission), *facts_changed("permissions")]
        elicitation = session.elicitations.pop(request, None)
        if elicitation is not None:
            elicitation.outcome = "cancel"
            changes += [touch(elicitation), *facts_changed("elicitations")]
    return changes
