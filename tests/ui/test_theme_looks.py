"""A conversation in every theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    AgentMessage,
    Diff,
    Entry,
    Notice,
    Plan,
    PlanItem,
    Session,
    TerminalRef,
    Thought,
    TurnEnd,
    UserMessage,
)
from acp_tui.ui.theme.themes import BUILT_IN
from tests.support.bodies import call, terminal
from tests.support.looks import entries_app

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER = """## What was wrong

The test in **login.py** was an *assignment*, see [the guide](https://docs.python.org/3/) and `user`:

```python
# `None` is one object
if user is None:
    return log.warning("nobody is called %r", name, stacklevel=2)
```

> Names are unique.

| case | before | now |
|------|--------|-----|
| none | passes | fails |
"""
OLD = "def login(name):\n    if user = None:\n        return False\n    return True\n"
NEW = "def login(name):\n    if user is None:\n        return False\n    return True\n"


OUTPUT = (
    "\x1b[1m=== 2 tests ===\x1b[0m\n\x1b[32mtests/test_one.py .\x1b[0m\n"
    "\x1b[31mFAILED\x1b[0m \x1b[33mtests/test_login.py\x1b[0m \x1b[36m0.8s\x1b[0m \x1b[90mskipped\x1b[0m\n"
)


def conversation() -> tuple[Session, list[Entry]]:
    """Return a session with entries of all kinds."""
    session = Session(cwd="/project")
    user = UserMessage(id=101, at=100.0, parts=[GrowingText("Fix the login bug, please")])
    thought = Thought(id=102, at=100.0, ended_at=104.0, parts=[GrowingText("Where are the users?")])
    edit = call(
        session,
        title="Edit login.py",
        kind="edit",
        status="completed",
        ended_at=100.4,
        content=[Diff("/project/login.py", OLD, NEW)],
    )
    terminal(
        session, OUTPUT, terminal_id="a", command="pytest -q", cwd="/project", exit_code=1, ended_at=100.8
    )
    run = call(
        session,
        title="pytest -q",
        kind="execute",
        status="failed",
        ended_at=100.8,
        content=[TerminalRef("a")],
    )
    steps = [PlanItem("Find out why", "completed", "high"), PlanItem("Write a test", "in_progress", "medium")]
    return session, [
        user,
        thought,
        edit,
        run,
        AgentMessage(id=103, at=100.0, parts=[GrowingText(ANSWER)]),
        Plan(id=104, at=100.0, items=steps),
        Notice(id=105, at=100.0, text="allowed by the policy accept-edits", level="info"),
        Notice(id=106, at=100.0, text="The log cannot be written", level="warning"),
        TurnEnd(id=107, at=100.0, stop_reason="refusal"),
    ]


@pytest.mark.parametrize("theme", BUILT_IN)
def test_looks(theme: str, snap_compare: Callable[..., bool]) -> None:
    session, entries = conversation()
    shown = [(entry, False) for entry in entries]
    assert snap_compare(entries_app(theme, shown, session), terminal_size=(100, 56))
