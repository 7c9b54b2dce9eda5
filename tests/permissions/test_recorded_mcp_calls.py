"""Recorded calls of the MCP tool `echo` by real agents: their titles and their permission requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.entry_labels import call_title
from acp_tui.permissions.subject import McpCallKey
from acp_tui.permissions.subject_reader import subject_of_call
from acp_tui.protocol.translator import Fold, fold
from acp_tui.session.state import ToolCall
from tests.support.permissions import PLACE
from tests.support.recordings import WIRELOGS, records

if TYPE_CHECKING:
    from acp_tui.session.record import Record

ARGUMENTS = '{"text": "hello"}'


def recorded(name: str) -> list[Record]:
    return records(next(path for path in WIRELOGS if path.stem == f"{name}-mcpcall"))


@pytest.mark.parametrize(
    ("name", "source"), [("claude-code", "name"), ("opencode", "title"), ("kimi-code", "title")]
)
def test_the_calls_are_titled_by_server_and_tool(name: str, source: str) -> None:
    session = fold(recorded(name))
    calls = [entry for entry in session.entries if isinstance(entry, ToolCall) and entry.mcp_tool]
    assert [(call_title(call, "/ws/project"), call.status, call.raw_input) for call in calls] == [
        ("script › echo", "completed", {"text": "hello"}),
        ("script › fail", "failed", {"message": "no"}),
    ]
    assert {call.mcp_tool.source for call in calls if call.mcp_tool} == {source}


@pytest.mark.parametrize(
    ("name", "certain", "arguments"), [("claude-code", True, ARGUMENTS), ("kimi-code", False, "{}")]
)
def test_the_permission_request_is_about_the_tool(name: str, certain: bool, arguments: str) -> None:
    state = Fold()
    for record in recorded(name):
        state.apply(record)
        if record.frame.get("method") == "session/request_permission":
            break
    *_, call = state.session.tool_calls.values()
    subject = subject_of_call(call, PLACE)
    assert (subject.kind, subject.certain) == ("mcp", certain)
    assert subject.description == "use `echo` of the MCP server script"
    assert subject.mcp_call == McpCallKey("script", "echo", arguments)
