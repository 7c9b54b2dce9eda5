"""A permission decision as one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.events import Decided

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
