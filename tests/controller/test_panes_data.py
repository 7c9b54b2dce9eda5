"""What a screen beside the conversation shows and does: files, terminals, servers."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.config.mcp import from_json_file
from acp_tui.controller import FileChange, FileVersions, McpServerStatus
from acp_tui.errors import UserError
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.controller.conftest import Converse

SLEEP = ["ask", "terminal/create", {"command": sys.executable, "args": ["-c", "input()"]}]


async def changed(converse: Converse, before: bytes | None, after: str | None) -> tuple[FileVersions, Path]:
    """The versions of a file that a turn changed."""
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
        await chat.conversation.revert(change.path)
    return found, path


async def test_a_changed_file_has_two_versions_and_goes_back(converse: Converse) -> None:
    found, path = await changed(converse, b"one\n", "two\n")
    assert found == FileVersions("one\n", "two\n")
    assert path.read_bytes() == b"one\n"


async def test_a_new_file_has_one_version_and_goes_away(converse: Converse) -> None:
    found, path = await changed(converse, None, "two\n")
    assert found == FileVersions(None, "two\n")
    assert not path.exists()


async def test_a_deleted_file_has_one_version_and_comes_back(converse: Converse) -> None:
    found, path = await changed(converse, b"one\n", None)
    assert found == FileVersions("one\n", None)
    assert path.read_bytes() == b"one\n"


async def test_bytes_that_are_no_text_have_no_versions_but_go_back(converse: Converse) -> None:
    found, path = await changed(converse, b"\xff\xfe\x00", "two\n")
    assert found.revert_obstacle == "Not a text file."
    assert path.read_bytes() == b"\xff\xfe\x00"


async def test_a_file_without_a_copy_says_why_and_cannot_go_back(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    await chat.prompt(["say", "hello"])
    change = FileChange(Path("/nowhere/file"), "modified", "it was changed before acp-tui could copy it")
    found = await chat.conversation.versions(change)
    assert found.revert_obstacle == "What it held is not known: it was changed before acp-tui could copy it."
    with pytest.raises(UserError, match="cannot be reverted"):
        await chat.conversation.revert(change.path)


async def test_a_terminal_can_be_ended_by_the_user(converse: Converse) -> None:
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


async def test_a_terminal_that_is_not_ours_cannot_be_ended(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    with pytest.raises(UserError, match="no terminal 'theirs'"):
        await chat.conversation.kill_terminal("theirs")


async def test_servers_given_and_left_out_are_known(converse: Converse, tmp_path: Path) -> None:
    servers = {"web": {"type": "http", "url": "https://example.com"}, "files": {"command": sys.executable}}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    chat = converse(servers=from_json_file(file))
    assert chat.conversation.mcp_servers == []
    await chat.open()
    assert chat.conversation.mcp_servers == [
        McpServerStatus("files", "stdio"),
        McpServerStatus("web", "http", "the agent does not support http servers"),
    ]


async def test_a_command_of_the_users_own_can_be_ended_too(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    terminal = await chat.conversation.user_commands.run(f"{sys.executable} -c 'input()'")
    await chat.conversation.kill_terminal(terminal)
    await until(lambda: chat.session.terminals[terminal].ended_at)
