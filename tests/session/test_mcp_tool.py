"""The MCP server and tool in the names of tool calls."""

from __future__ import annotations

import pytest

from acp_tui.entry_labels import call_title
from acp_tui.session.state import ToolCall
from tests.support.talk import Talk

SERVERS = ("files", "files-two", "my server")


def talk() -> Talk:
    """A session in which the agent was given some servers, with a running turn."""
    conversation = Talk().opened()
    servers = [{"name": name, "command": "/bin/x", "args": [], "env": []} for name in SERVERS]
    conversation.ask("session/new", {"cwd": "/w", "mcpServers": servers}, {"sessionId": "s1"})
    conversation.prompt()
    return conversation


@pytest.mark.parametrize(
    ("call", "title"),
    [
        ({"title": "mcp__files__read"}, "files › read"),
        ({"title": "files__read"}, "files › read"),
        ({"title": "Tool: files-two/read", "kind": "execute"}, "files-two › read"),
        ({"title": "mcp__my_server__list_all"}, "my server › list_all"),
        ({"title": "files/read"}, "files › read"),
        ({"title": "files-two_read_all"}, "files-two › read_all"),
        ({"title": "read", "name": "mcp__files__read"}, "files › read"),
        (
            {"title": "Read it", "_meta": {"claudeCode": {"toolName": "mcp__files__read"}}},
            "files › read: Read it",
        ),
        # These are not tools of a server that the agent was given.
        ({"title": "files/read", "kind": "read"}, "files/read"),
        ({"title": "mcp__other__read"}, "mcp__other__read"),
        ({"title": "files__"}, "files__"),
        ({"title": "files_read", "kind": "read"}, "files_read"),
        ({"title": "Look at files__read"}, "Look at files__read"),
    ],
)
def test_a_call_of_an_mcp_tool_is_titled_by_server_and_tool(call: dict[str, object], title: str) -> None:
    conversation = talk()
    conversation.tool("t", **{"kind": "other", **call})
    assert call_title(conversation.only(ToolCall), "/w") == title


def test_a_name_is_told_from_a_title() -> None:
    conversation = talk()
    conversation.tool("t", title="files__read", kind="other")
    tool = conversation.only(ToolCall).mcp_tool
    assert tool is not None
    assert tool.source == "title"
    conversation.tool_update("t", name="files__read")
    tool = conversation.only(ToolCall).mcp_tool
    assert tool is not None
    assert tool.source == "name"
