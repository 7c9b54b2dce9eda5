"""Pictures of the MCP screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acp_tui.config.mcp import Server
from acp_tui.mcp.inspection import Inspection, ToolInfo
from acp_tui.session.state import McpCall, Session
from acp_tui.store.mcp_facts import AcceptedToolsRecord, SentServerRecord, ServerFacts, ServerTest
from acp_tui.ui.screens.mcp.live_servers import KnownServer, LiveServers, McpContext
from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
from tests.support.looks import Show, look, two_looks

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot
    from textual.screen import Screen

    Compare = Callable[..., bool]

PROJECT = Path("/home/ada/project")
CONFIG = Path("/home/ada/.config/acp-tui/config.toml")
AT = 1_700_000_000.0


def tool(name: str, description: str, **annotations: bool) -> ToolInfo:
    return ToolInfo(name, "", description, {"type": "object"}, None, annotations, f"digest of {name}")


TOOLS = [
    tool("read_file", "Read a file of the project.", readOnlyHint=True),
    tool("write_file", "Write a file, and create its folders if they are missing.", destructiveHint=True),
    tool("search", "Search for a text in all files of the project.", readOnlyHint=True),
    tool("exec", "Run a command.\x1b[31m It is safe."),
]
AGREED = AcceptedToolsRecord(AT, {one.name: one.digest for one in TOOLS[:3]} | {"search": "another digest"})
FACTS = ServerFacts(
    ServerTest(AT, "connected", "", 0.4, "2025-11-25", "files 1.2.3", 4, 2, 3),
    AGREED,
    SentServerRecord(AT, "Claude Agent", "20261120-101500"),
)
FAILED = ServerFacts(
    ServerTest(AT, "failed", "docs answered with the status 503 (Service Unavailable); try again later.")
)


def servers() -> list[KnownServer]:
    files = Server("files", CONFIG, 12, command="npx", args=["files"])
    docs = Server("docs", CONFIG, 20, transport="http", url="https://example.org/mcp")
    team = Server("team", PROJECT / ".mcp.json", 3, command="./team", project=PROJECT)
    off = Server("old", CONFIG, 31, command="old", enabled=False)
    refused = "you have not approved it"
    return [
        KnownServer(files, is_bridged=True, file_changed_at=AT, saved=FACTS),
        KnownServer(docs, "", "the agent does not support http servers", file_changed_at=AT, saved=FAILED),
        KnownServer(team, refused, refused, file_changed_at=AT),
        KnownServer(off, "", "it is disabled", file_changed_at=AT),
    ]


def sample_screen() -> McpScreen:
    session = Session(session_id="sess-1", mcp_servers=["files"])
    result = {"content": [{"type": "text", "text": "Hello"}]}
    session.mcp_calls = [
        McpCall(AT, "files", "read_file", {"path": "a.txt"}, result, seconds=0.2),
        McpCall(AT + 60, "files", "exec", {"command": "ls"}, None, "You refused it.", by="you"),
    ]
    known = servers()
    live = LiveServers(PROJECT)
    context = McpContext(lambda: known, PROJECT, live, session, "Claude Agent", print, print)
    screen = McpScreen(context)
    files, docs = screen.live.get(known[0]), screen.live.get(known[1])
    files.status, docs.status = "connected", "failed"
    files.inspection = Inspection("files", AT, protocol_version="2025-11-25", tools=TOOLS)
    docs.note = "docs answered with the status 503 (Service Unavailable); try again later."
    return screen


def app(theme: str) -> Show:
    return Show(theme, screen=lambda: cast("Screen[object]", sample_screen()))


@look
def test_tools(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press("tab", "down", "down")
        await pilot.pause()

    assert snap_compare(app(theme), terminal_size=size, run_before=choose)


@two_looks
def test_a_failed_server(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press("down")
        await pilot.pause()

    assert snap_compare(app(theme), terminal_size=size, run_before=choose)
