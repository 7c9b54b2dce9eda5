"""Plans, notices, compactions, unknown messages and faults."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.session.events import AgentExited, Noticed, TerminalExited, TerminalOutput
from acp_tui.session.state import Compaction, Notice, Plan, PlanItem, Terminal, Unrecognised
from acp_tui.session.terminal_text import MAX_KEPT_PER_END
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """A session with a running turn."""
    conversation = Talk().opened()
    conversation.prompt()
    return conversation


def steps(*statuses: str) -> list[dict[str, str]]:
    """Entries of a plan."""
    return [
        {"content": f"step {n}", "status": status, "priority": "high"} for n, status in enumerate(statuses)
    ]


def test_updates_of_a_plan_change_one_entry(talk: Talk) -> None:
    talk.update("plan", entries=steps("pending", "pending"))
    talk.update("plan", entries=steps("completed"))
    plan = talk.only(Plan)
    assert plan.items == [PlanItem("step 0", "completed", "high")]
    assert talk.session.plan is plan


def test_the_next_turn_gets_a_new_plan_entry(talk: Talk) -> None:
    talk.update("plan", entries=steps("completed"))
    talk.end(3)
    talk.prompt()
    talk.update("plan", entries=steps("pending"))
    assert [plan.items[0].status for plan in talk.all(Plan)] == ["completed", "pending"]


def test_a_plan_repeated_in_the_next_turn_is_ignored(talk: Talk) -> None:
    talk.update("plan", entries=steps("pending"))
    talk.end(3)
    talk.prompt()
    talk.update("plan", entries=steps("pending"))
    assert talk.session.plan is talk.only(Plan)
    talk.update("plan", entries=steps("completed"))
    first, second = talk.all(Plan)
    assert talk.session.plan is second
    assert any(change.entry is first for change in talk.changes)  # it is drawn otherwise now


def test_a_plan_that_was_cleared_and_sent_again_is_shown(talk: Talk) -> None:
    talk.update("plan", entries=steps("pending"))
    talk.update("plan", entries=[])
    talk.update("plan", entries=steps("pending"))
    assert talk.session.plan is talk.all(Plan)[-1]


def test_an_empty_plan_clears_the_current_one(talk: Talk) -> None:
    talk.update("plan", entries=steps("completed"))
    talk.update("plan", entries=[])
    assert talk.session.plan is None
    assert talk.only(Plan).items == [PlanItem("step 0", "completed", "high")]
    talk.update("plan", entries=[])
    assert len(talk.all(Plan)) == 1


def test_unstable_kinds_of_plans_are_shown(talk: Talk) -> None:
    talk.update("plan_update", plan={"type": "items", "planId": "a", "entries": steps("pending")})
    talk.update("plan_update", plan={"type": "markdown", "planId": "b", "content": "# Plan"})
    talk.update("plan_update", plan={"type": "file", "planId": "c", "uri": "file:///plan.md"})
    talk.update("plan_update", plan={"type": "markdown", "planId": "b", "content": "# Better"})
    talk.update("plan_removed", planId="b")
    assert [(plan.plan_id, plan.markdown, plan.uri, plan.removed) for plan in talk.all(Plan)] == [
        ("a", None, None, False),
        ("b", "# Better", None, True),
        ("c", None, "file:///plan.md", False),
    ]
    assert talk.session.plan is None


def test_updates_of_a_compaction_change_one_entry(talk: Talk) -> None:
    talk.update("compaction_update", compactionId="c", status="in_progress")
    talk.update("compaction_summary_chunk", compactionId="c", content={"type": "text", "text": "short"})
    talk.update("compaction_update", compactionId="c", status="failed", error="no room")
    compaction = talk.only(Compaction)
    assert (compaction.text, compaction.status, compaction.error) == ("short", "failed", "no room")


def test_a_field_of_a_compaction_is_kept_if_left_out_and_cleared_by_null(talk: Talk) -> None:
    summary = [{"type": "text", "text": "whole"}, {"type": "image", "data": "", "mimeType": "image/png"}]
    talk.update("compaction_update", compactionId="c", status="failed", summary=summary, error="no room")
    talk.update("compaction_update", compactionId="c", status="completed")
    compaction = talk.only(Compaction)
    assert (compaction.text, len(compaction.parts), compaction.error) == ("whole", 2, "no room")
    talk.update("compaction_update", compactionId="c", status="completed", summary=None, error=None)
    assert (compaction.parts, compaction.error) == ([], None)


def test_a_compaction_is_over_when_the_agent_exits(talk: Talk) -> None:
    talk.update("compaction_update", compactionId="c", status="in_progress")
    talk.client(AgentExited(exit_code=1))
    assert talk.only(Compaction).status == "cancelled"


def test_a_notice_repeated_in_a_turn_is_only_counted(talk: Talk) -> None:
    for title in ("Slow down", "Slow down", "Other"):
        talk.update("notice", severity="warning", title=title, description="soon")
    assert [notice.text for notice in talk.all(Notice)] == ["Slow down (2 times)", "Other"]


@pytest.mark.parametrize(("severity", "level"), [("error", "error"), ("warning", "warning"), ("fun", "info")])
def test_a_notice_of_the_agent_is_shown(talk: Talk, severity: str, level: str) -> None:
    talk.update("notice", severity=severity, title="Mind\x07 this")
    assert (talk.only(Notice).level, talk.only(Notice).text) == (level, "Mind␇ this")
    assert talk.only(Notice).source == "agent"


def test_a_notice_of_the_client_is_shown(talk: Talk) -> None:
    talk.client(Noticed("warning", "Disk full", detail="/w", source="store"))
    notice = talk.only(Notice)
    assert (notice.level, notice.text, notice.detail, notice.source) == (
        "warning",
        "Disk full",
        "/w",
        "store",
    )


def test_an_unknown_update_is_shown_as_sent(talk: Talk) -> None:
    talk.update("telepathy", thought="x")
    unknown = talk.only(Unrecognised)
    assert unknown.what == 'session update "telepathy"'
    assert unknown.raw == {"sessionUpdate": "telepathy", "thought": "x"}


@pytest.mark.parametrize(
    ("kind", "update"),
    [
        ("agent_message_chunk", {}),
        ("tool_call", {"title": "no id"}),
        ("plan", {"entries": "none"}),
        ("current_mode_update", {"currentModeId": {}}),
        ("usage_update", {"used": "many"}),
        ("session_info_update", {"title": ["a"]}),
        ("available_commands_update", {"availableCommands": 3}),
    ],
)
def test_an_unreadable_update_is_shown_as_sent(talk: Talk, kind: str, update: dict[str, Any]) -> None:
    talk.update(kind, **update)
    assert talk.only(Unrecognised).raw == {"sessionUpdate": kind, **update}


def test_stray_output_is_one_notice_per_turn(talk: Talk) -> None:
    for number in range(2000):
        talk.received(f"DEBUG line {number}\x1b[2J")
    notice = talk.only(Notice)
    assert (notice.level, notice.text) == (
        "info",
        "2000 lines on the agent's stdout were not protocol messages",
    )
    assert notice.detail is not None
    assert notice.detail.startswith("DEBUG line 0␛[2J\nDEBUG line 1␛[2J\n")
    assert len(notice.detail) <= 4000
    talk.received("   ")
    assert talk.changes == []


def test_terminal_output_is_limited_and_counts_what_is_missing(talk: Talk) -> None:
    talk.client(TerminalOutput("term-1", "early"))
    talk.received({"id": 1, "method": "terminal/create", "params": {"command": "yes"}})
    talk.reply(1, {"terminalId": "term-1"})
    talk.client(TerminalOutput("term-1", "late", skipped=3 * MAX_KEPT_PER_END))
    talk.client(TerminalExited("term-1", None, "SIGTERM"))
    terminal = talk.only(Terminal)
    assert (terminal.command, terminal.output.total, terminal.signal) == (
        "yes",
        3 * MAX_KEPT_PER_END + 9,
        "SIGTERM",
    )
    assert (terminal.output.head, terminal.output.tail) == ("early", "late")


def test_a_waiting_notice_is_replaced_by_its_result(talk: Talk) -> None:
    talk.client(Noticed("info", "Waiting …", source="waiting"))
    waiting = talk.only(Notice)
    talk.client(Noticed("info", "It took 4 s", source="waited"))
    assert talk.only(Notice) is waiting
    assert waiting.text == "It took 4 s"
    talk.client(Noticed("info", "Waiting …", source="waiting"))
    talk.client(Noticed("warning", "Something else"))
    talk.client(Noticed("info", "It took 5 s", source="waited"))
    assert [notice.text for notice in talk.all(Notice)] == ["It took 4 s", "It took 5 s", "Something else"]


def test_a_list_of_todos_in_the_input_of_a_tool_is_a_plan(talk: Talk) -> None:
    """OpenCode sends no plan updates."""
    todos = [{"content": "Look", "status": "completed", "priority": "high"}, {"content": "Do"}]
    talk.tool("t", title="todowrite", rawInput={"todos": todos})
    assert talk.session.plan is None  # the input has not been received completely
    talk.tool_update("t", rawInput={"todos": [todos[0], {"content": "Do", "status": "pending"}]})
    plan = talk.only(Plan)
    assert [(item.content, item.status) for item in plan.items] == [("Look", "completed"), ("Do", "pending")]
