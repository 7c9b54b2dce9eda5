"""The calls of MCP tools that acp-tui carried, as part of the session."""

from __future__ import annotations

from acp_tui.session import events as ev
from acp_tui.session.reduce import reduce
from acp_tui.session.reduce.facts import MAX_MCP_CALLS
from acp_tui.session.state import McpCall, Session


def test_a_call_is_added_to_the_session() -> None:
    session = Session()
    changes = reduce(session, ev.McpCalled("files", "read", {"path": "a"}, {"content": []}, seconds=0.5), 9.0)
    assert session.mcp_calls == [McpCall(9.0, "files", "read", {"path": "a"}, {"content": []}, seconds=0.5)]
    assert [change.fact for change in changes] == ["mcp_calls"]


def test_only_the_last_calls_are_kept() -> None:
    session = Session()
    for number in range(MAX_MCP_CALLS + 3):
        reduce(session, ev.McpCalled("files", f"t{number}"), 1.0)
    assert len(session.mcp_calls) == MAX_MCP_CALLS
    assert session.mcp_calls[0].tool == "t3"


def test_a_call_has_failed_without_a_result_or_with_an_error_of_the_tool() -> None:
    assert McpCall(1.0, "s", "t", error="refused").failed
    assert McpCall(1.0, "s", "t", raw_result={"isError": True}).failed
    assert not McpCall(1.0, "s", "t", raw_result={"isError": False}).failed
