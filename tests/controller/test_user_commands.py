"""Commands run by the user."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from acp_tui.session.state import AgentMessage, Notice, Terminal
from tests.controller.conftest import restart
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.controller.conftest import Converse
    from tests.support.scripted_conversation import ScriptedConversation


def commands(chat: ScriptedConversation) -> list[Terminal]:
    return [entry for entry in chat.session.entries if isinstance(entry, Terminal) and entry.owner == "user"]


async def run(chat: ScriptedConversation, line: str) -> Terminal:
    """Run a command to its end."""
    name = await chat.conversation.user_commands.run(line)
    await until(lambda: chat.session.terminals[name].ended_at is not None)
    return chat.session.terminals[name]


async def test_a_user_command_runs_in_the_users_shell(converse: Converse) -> None:
    chat = converse()
    (chat.conversation.cwd / "file").write_text("x", encoding="utf-8")
    entry = await run(chat, "echo $((6*7)) | cat; ls; test -t 1 && echo tty; exit 3")
    assert entry.output.head.replace("\r", "") == "42\nfile\ntty\n"
    assert (entry.exit_code, entry.command) == (3, "echo $((6*7)) | cat; ls; test -t 1 && echo tty; exit 3")
    assert not entry.stray


async def test_a_user_command_is_replayed_from_the_log(converse: Converse) -> None:
    chat = converse()
    entry = await run(chat, "printf 'one\\ntwo'")
    (again,) = [item for item in chat.replayed().entries if isinstance(item, Terminal)]
    assert (again.owner, again.command, again.exit_code) == ("user", entry.command, 0)
    assert again.output.head == entry.output.head == "one\r\ntwo"


async def test_a_user_command_ends_when_killed_or_when_the_conversation_is_closed(converse: Converse) -> None:
    chat = converse()
    first = await chat.conversation.user_commands.run("echo $$; exec sleep 1000")
    second = await chat.conversation.user_commands.run("echo $$; exec sleep 1000")
    outputs = [chat.session.terminals[name].output for name in (first, second)]
    await until(lambda: all(output.total for output in outputs))
    await chat.conversation.user_commands.kill(first)
    assert [entry.signal for entry in commands(chat)] == ["SIGTERM", None]
    await chat.conversation.close()
    for output in outputs:
        with pytest.raises(ProcessLookupError):
            os.kill(int(output.head), 0)
    assert [entry.signal for entry in commands(chat)] == ["SIGTERM", "SIGTERM"]


async def test_a_user_command_does_not_split_a_message(converse: Converse) -> None:
    chat = converse()
    conversation = await chat.open()
    turn = asyncio.create_task(chat.prompt(["say", "first "], ["wait_for_cancel"], ["say", "second"]))
    await until(lambda: chat.said() == "first ")
    await run(chat, "true")
    await conversation.cancel()
    await turn
    assert [entry.text for entry in chat.session.entries if isinstance(entry, AgentMessage)] == [
        "first second"
    ]


async def test_the_agent_cannot_read_a_user_command(converse: Converse) -> None:
    chat = converse()
    conversation = await chat.open()
    name = await conversation.user_commands.run("echo private; exec sleep 1000")
    await until(lambda: chat.session.terminals[name].output.total)
    await chat.prompt(["ask", "terminal/output", {"terminalId": name}])
    assert "no terminal" in chat.said()
    assert "private" not in chat.said()
    await restart(conversation)
    assert chat.session.terminals[name].ended_at is None
    await conversation.user_commands.kill(name)
    await conversation.user_commands.kill(name)  # killing twice is no error


async def test_a_user_command_in_a_deleted_folder_is_an_error(converse: Converse) -> None:
    chat = converse()
    chat.conversation.cwd.rmdir()
    with pytest.raises(UserError, match=r"The command cannot be run: .* does not exist"):
        await chat.conversation.user_commands.run("ls")
    assert not any(isinstance(entry, Notice) for entry in chat.session.entries)


async def test_an_agent_cannot_know_the_id_of_a_command(converse: Converse) -> None:
    """An agent that knew it could report output, or the end, of the user's own command."""
    first, second = [await run(converse(), "true") for _ in range(2)]
    assert first.terminal_id != second.terminal_id
