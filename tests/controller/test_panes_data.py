"""Data and actions for the panes: changed files, terminals and MCP servers."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.config.mcp_sources import from_json_file
from acp_tui.controller import FileChange, FileVersions, McpServerStatus
from acp_tui.errors import UserError
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.controller.conftest import Converse

SLEEP = ["ask", "terminal/create", {"command": sys.executable, "args": ["-c", "input()"]}]


async def change_and_revert(
    converse: Converse, before: bytes | None, after: str | None
) -> tuple[FileVersions, Path]:
    """Let a turn change a file, revert it if possible, and return its versions."""
    chat = converse()
    path = chat.conversation.cwd / "file.txt"
    if before is not None:
        path.write_bytes(before)
    await chat.open()
    await chat.prompt(["say", "hello"])
    if after is None:
        path.unlink()
    else:
        await chat.prompt(["write_file", str(path), after])
    [change] = await chat.conversation.changes()
    found = await chat.conversation.versions(change)
    if change.revertable:
        await chat.conversation.review.revert_to_start(change.path)
    return found, path


async def test_a_changed_file_has_two_versions_and_can_be_reverted(converse: Converse) -> None:
    found, path = await change_and_revert(converse, b"one\n", "two\n")
    assert found == FileVersions("one\n", "two\n")
    assert path.read_bytes() == b"one\n"


async def test_a_new_file_is_deleted_by_a_revert(converse: Converse) -> None:
    found, path = await change_and_revert(converse, None, "two\n")
    assert found == FileVersions(None, "two\n")
    assert not path.exists()


async def test_a_deleted_file_is_restored_by_a_revert(converse: Converse) -> None:
    found, path = await change_and_revert(converse, b"one\n", None)
    assert found == FileVersions("one\n", None)
    assert path.read_bytes() == b"one\n"


async def test_a_binary_file_has_no_versions_but_can_be_reverted(converse: Converse) -> None:
    found, path = await change_and_revert(converse, b"\xff\xfe\x00", "two\n")
    assert found.problem == "Not a text file."
    assert path.read_bytes() == b"\xff\xfe\x00"


async def test_a_file_without_a_copy_cannot_be_reverted(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    await chat.prompt(["say", "hello"])
    change = FileChange(Path("/nowhere/file"), "modified", "it was changed before acp-tui could copy it")
    found = await chat.conversation.versions(change)
    why = "it was changed before acp-tui could copy it"
    assert found.problem == f"The earlier content of the file is unknown: {why}."
    with pytest.raises(UserError, match="cannot be reverted"):
        await chat.conversation.review.revert_to_start(change.path)


async def test_the_user_can_kill_a_terminal_of_the_agent(converse: Converse) -> None:
    chat = converse(policy="yolo")
    await chat.open()
    wait = ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}]
    turn = asyncio.create_task(chat.prompt(SLEEP, wait))
    await until(lambda: chat.session.terminals)
    [terminal] = chat.session.terminals.values()
    await chat.conversation.kill_terminal(terminal.terminal_id)
    await turn
    assert terminal.signal is not None
    assert json.loads(chat.said().partition("}")[2])["signal"] == terminal.signal


async def test_killing_an_unknown_terminal_is_an_error(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    with pytest.raises(UserError, match="no terminal 'theirs'"):
        await chat.conversation.kill_terminal("theirs")


async def test_server_statuses_name_those_that_were_not_sent(converse: Converse, tmp_path: Path) -> None:
    web = {"type": "http", "url": "https://example.com", "connection": "direct"}
    servers = {"web": web, "files": {"command": sys.executable}}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    chat = converse(servers=from_json_file(file))
    assert chat.conversation.mcp_servers == []
    await chat.open()
    assert chat.conversation.mcp_servers == [
        McpServerStatus("files", "stdio"),
        McpServerStatus("web", "http", "the agent does not support http servers"),
    ]


async def test_the_user_can_kill_their_own_command(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    terminal = await chat.conversation.user_commands.run(f"{sys.executable} -c 'input()'")
    await chat.conversation.kill_terminal(terminal)
    await until(lambda: chat.session.terminals[terminal].ended_at)
