"""The demo agent in version 2 of the protocol."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.agent_catalogue import Launch
from acp_tui.connection.errors import RequestFailed
from acp_tui.connection.params import SessionSetup
from acp_tui.demo.commands import COMMANDS
from acp_tui.session.state import Diff, Permission, Terminal, ToolCall, Unrecognised, UserMessage
from tests.support.connection import Client
from tests.support.version_2 import violations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

UNENDING = ("hang", "silence", "slow", "crash", "signin", "logout")
"""Commands that wait for the user, or after which nothing more comes."""
NOT_IN_THE_SCHEMA = ("unknown", "noise", "flood")
"""Commands that break the schema on purpose, or send very much."""


async def allow(params: dict[str, Any]) -> dict[str, Any]:
    """Choose the first option that allows."""
    option = next(one for one in params["options"] if one["kind"].startswith("allow"))
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Client]:
    """Return a client of the demo agent, which is asked for version 2."""
    command = [sys.executable, "-m", "acp_tui.demo", "--speed", "instant", "--store", str(tmp_path / "store")]
    folder = tmp_path / "project"
    folder.mkdir()
    client = Client(Launch("demo", "Demo agent", command, protocol="2"), folder, "")
    client.handlers["session/request_permission"] = allow
    await client.initialize()
    yield client
    await client.connection.close()


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {*UNENDING, *NOT_IN_THE_SCHEMA}))
async def test_every_message_of_a_command_follows_the_schema(demo: Client, command: str) -> None:
    opened = await demo.connection.new_session(SessionSetup(str(demo.cwd)))
    with suppress(RequestFailed):  # of `/error`
        await demo.connection.prompt(opened["sessionId"], [{"type": "text", "text": f"/{command}"}])
    assert demo.session.dialect == "v2"
    assert violations(demo.records, "received") == []
    assert not any(isinstance(entry, Unrecognised) for entry in demo.session.entries)


async def test_the_demo_shows_diffs_terminals_and_questions(demo: Client) -> None:
    opened = await demo.connection.new_session(SessionSetup(str(demo.cwd)))
    for command in ("/diff", "/terminal"):
        await demo.connection.prompt(opened["sessionId"], [{"type": "text", "text": command}])
    entries = demo.session.entries
    calls = [entry for entry in entries if isinstance(entry, ToolCall)]
    diffs = [item for call in calls for item in call.content if isinstance(item, Diff)]
    assert {diff.operation for diff in diffs} >= {"add", "modify"}
    assert any(isinstance(entry, Permission) for entry in entries)
    [terminal] = [entry for entry in entries if isinstance(entry, Terminal)]
    assert terminal.owner == "agent"
    assert terminal.exit_code == 0
    assert terminal.output.total


async def test_a_stored_session_is_replayed(demo: Client) -> None:
    opened = await demo.connection.new_session(SessionSetup(str(demo.cwd)))
    await demo.connection.prompt(opened["sessionId"], [{"type": "text", "text": "/plan"}])
    await demo.connection.close_session(opened["sessionId"])
    before = len(demo.records)
    await demo.connection.load_session(opened["sessionId"], SessionSetup(str(demo.cwd)))
    assert violations(demo.records, "received") == []
    assert len(demo.records) > before
    assert {entry.text for entry in demo.session.entries if isinstance(entry, UserMessage)} == {"/plan"}
    assert demo.session.phase == "idle"
