"""Pictures of the short entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    Compaction,
    Elicitation,
    Notice,
    Permission,
    PermissionOption,
    Plan,
    PlanItem,
    RpcError,
    Session,
    ToolCall,
    TurnEnd,
    Unrecognised,
)
from tests.support.looks import every_look, every_width, shows_all

if TYPE_CHECKING:
    from acp_tui.session.state import Entry

    Shown = list[tuple[Entry, bool]]

LONG = (
    "The gateway could not reach the model: the connection was refused three times in a row, and nobody "
    "knows whether a fourth attempt would have fared any better than those"
)
CALL = ToolCall(id=0, at=0, call_id="t1", title="Run `pytest -q` in src")
ALLOW = PermissionOption("a", "Yes", "allow_once")
ALWAYS = PermissionOption("b", "Yes, and don't ask again for pytest", "allow_always")
REJECT = PermissionOption("r", "No", "reject_once")


def _permission(**facts: Any) -> Permission:
    return Permission(id=1, at=0, request_id=1, call_id="t1", options=[ALLOW, REJECT], **facts)


def _plan(entry_id: int, *items: tuple[str, str, str], **facts: Any) -> Plan:
    steps = [PlanItem(content, status, priority) for content, status, priority in items]
    return Plan(id=entry_id, at=0, items=steps, **facts)


STEPS = (
    ("Find out why the login fails for users without a name", "completed", "high"),
    ("Write a test", "completed", "medium"),
    ("Change `login.py`, " + LONG[:90], "in_progress", "high"),
    ("Run all tests", "pending", "medium"),
    ("Tidy up", "pending", "low"),
)
OLDER, NEWER = _plan(1, *STEPS), _plan(2, *STEPS)

ENTRIES: Shown = [
    # plan
    (OLDER, False),
    (NEWER, False),
    (_plan(3, *STEPS), True),
    (_plan(4, removed=True), False),
    # permission
    (_permission(outcome="selected", option=ALLOW, by="you"), False),
    (_permission(outcome="selected", option=ALWAYS, by="you"), False),
    (
        _permission(outcome="selected", option=ALLOW, by="rule", why="allowed by the rule “run `pytest …`”"),
        False,
    ),
    (_permission(outcome="selected", option=REJECT, by="policy", why=LONG), False),
    (_permission(outcome="cancelled", by="turn", why="The turn was cancelled"), False),
    (_permission(outcome="error", why="The agent used the same request id again"), False),
    (_permission(), False),
    (_permission(answerable=False), False),
    # notice
    (Notice(id=1, at=0, text="Mode: Plan"), False),
    (Notice(id=2, at=0, text=LONG, level="warning"), False),
    (
        Notice(id=3, at=0, text="Could not read the file", level="error", detail="errno 13\nat once"),
        False,
    ),
    (Notice(id=4, at=0, text="The agent printed 3 lines", detail="a\nb\nc"), True),
    (Notice(id=5, at=0, text="Allowed: run `ls`", source="rule"), False),
    (Notice(id=6, at=0, text="I have updated myself", source="agent"), False),
    # turn_end
    (TurnEnd(id=1, at=0, stop_reason="cancelled"), False),
    (TurnEnd(id=2, at=0, stop_reason="max_tokens"), False),
    (TurnEnd(id=3, at=0, stop_reason="max_turn_requests"), False),
    (TurnEnd(id=4, at=0, stop_reason="refusal"), False),
    (TurnEnd(id=5, at=0, stop_reason="end_turn", empty=True), False),
    (TurnEnd(id=6, at=0, stop_reason="sleepy"), False),
    (TurnEnd(id=7, at=0, error=RpcError(-32603, LONG, raw={"code": -32603})), True),
    (
        TurnEnd(id=8, at=0, error=RpcError(429, "Too many requests", "try later", {"data": {"wait": 3}})),
        False,
    ),
    # elicitation
    (
        Elicitation(
            id=1,
            at=0,
            request_id=1,
            mode="form",
            message="Which database?",
            schema={"properties": {"db": {"title": "Database"}, "port": {}}},
        ),
        False,
    ),
    (
        Elicitation(
            id=2,
            at=0,
            request_id=2,
            mode="url",
            message="Sign in to go on",
            url="https://example.org/sign-in?" + "x" * 90,
            outcome="accept",
            completed=True,
        ),
        False,
    ),
    (Elicitation(id=3, at=0, request_id=3, mode="form", message=LONG, outcome="decline"), False),
    (Elicitation(id=4, at=0, request_id=4, mode="form", outcome="cancel"), False),
    # compaction
    (Compaction(id=1, at=0, compaction_id="c"), False),
    (
        Compaction(
            id=2, at=0, compaction_id="c", status="completed", parts=[GrowingText(f"{LONG}\n\n{LONG}")]
        ),
        False,
    ),
    (Compaction(id=3, at=0, compaction_id="c", status="completed", parts=[GrowingText(LONG)]), True),
    (Compaction(id=4, at=0, compaction_id="c", status="failed", error="no room left"), False),
    # unrecognised
    (Unrecognised(id=1, at=0, what="session update 'weather'", raw={"sun": True}), True),
    (
        Unrecognised(
            id=2, at=0, what="session update 'weather'", raw={"sun": True, "clouds": [1, 2], "said": LONG}
        ),
        False,
    ),
]


@every_look
@every_width
def test_looks(theme: str, width: int, snap_compare: Any) -> None:
    session = Session(tool_calls={"t1": CALL}, plan=NEWER)
    assert shows_all(snap_compare, theme, width, ENTRIES, session)
