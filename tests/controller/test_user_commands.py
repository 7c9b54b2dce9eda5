"""The user's own commands, beside the agent."""

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


def commands(one: ScriptedConversation) -> list[Terminal]:
    return [entry for entry in one.session.entries if isinstance(entry, Terminal) and entry.owner == "user"]


async def run(one: ScriptedConversation, line: str) -> Terminal:
    """Run it to its end."""
    name = await one.conversation.user_commands.run(line)
    await until(lambda: one.session.terminals[name].ended_at is not None)
    return one.session.terminals[name]


async def test_a_command_line_runs_in_the_folder_through_the_users_shell(converse: Converse) -> None:
    one = converse()
    (one.conversation.cwd / "file").write_text("x", encoding="utf-8")
    entry = await run(one, "echo $((6*7)) | cat; ls; test -t 1 && echo tty; exit 3")
    assert entry.output.head.replace("\r", "") == "42\nfile\ntty\n"
    assert (entry.exit_code, entry.command) == (3, "echo $((6*7)) | cat; ls; test -t 1 && echo tty; exit 3")
    assert not entry.stray


async def test_the_record_gives_the_same_entry(converse: Converse) -> None:
    one = converse()
    entry = await run(one, "printf 'one\\ntwo'")
    (again,) = [item for item in one.replayed().entries if isinstance(item, Terminal)]
    assert (again.owner, again.command, again.exit_code) == ("user", entry.command, 0)
    assert again.output.head == entry.output.head == "one\r\ntwo"


async def test_it_can_be_killed_and_ends_with_the_conversation(converse: Converse) -> None:
    one = converse()
    first = await one.conversation.user_commands.run("echo $$; exec sleep 1000")
    second = await one.conversation.user_commands.run("echo $$; exec sleep 1000")
    outputs = [one.session.terminals[name].output for name in (first, second)]
    await until(lambda: all(output.total for output in outputs))
    await one.conversation.user_commands.kill(first)
    assert [entry.signal for entry in commands(one)] == ["SIGTERM", None]
    await one.conversation.close()
    for output in outputs:
        with pytest.raises(ProcessLookupError):
            os.kill(int(output.head), 0)
    assert [entry.signal for entry in commands(one)] == ["SIGTERM", "SIGTERM"]


async def test_it_interrupts_nothing_that_the_agent_says(converse: Converse) -> None:
    one = converse()
    conversation = await one.open()
    turn = asyncio.create_task(one.prompt(["say", "first "], ["wait_for_cancel"], ["say", "second"]))
    await until(lambda: one.said() == "first ")
    await run(one, "true")
    await conversation.cancel()
    await turn
    assert [entry.text for entry in one.session.entries if isinstance(entry, AgentMessage)] == [
        "first second"
    ]


async def test_the_agent_cannot_read_it_and_does_not_end_it(converse: Converse) -> None:
    one = converse()
    conversation = await one.open()
    name = await conversation.user_commands.run("echo private; exec sleep 1000")
    await until(lambda: one.session.terminals[name].output.total)
    await one.prompt(["ask", "terminal/output", {"terminalId": name}])
    assert "no terminal" in one.said()
    assert "private" not in one.said()
    await restart(conversation)
    assert one.session.terminals[name].ended_at is None
    await conversation.user_commands.kill(name)
    await conversation.user_commands.kill(name)  # again is no error


async def test_a_folder_that_is_gone_is_a_sentence(converse: Converse) -> None:
    one = converse()
    one.conversation.cwd.rmdir()
    with pytest.raises(UserError, match=r"The command cannot be run: .* does not exist"):
        await one.conversation.user_commands.run("ls")
    assert not any(isinstance(entry, Notice) for entry in one.session.entries)
