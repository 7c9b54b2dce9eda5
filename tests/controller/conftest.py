"""Conversations for one test, ended with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.support.scripted_conversation import ScriptedConversation, scripted_conversation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acp_tui.controller import Conversation


async def restart(conversation: Conversation) -> None:
    """Start the agent again and reopen the session, as the screen does."""
    await conversation.reconnect()
    await conversation.open_again()


class Converse(Protocol):
    """Takes the module in `tests/fake_agents`, its arguments and the options of the conversation."""

    def __call__(self, module: str = "script", *args: str, **options: Any) -> ScriptedConversation: ...


@pytest.fixture
async def converse(tmp_path: Path) -> AsyncIterator[Converse]:
    """Makes conversations; nothing of them may live when the test is over."""
    made: list[ScriptedConversation] = []

    def make(module: str = "script", *args: str, **options: Any) -> ScriptedConversation:
        made.append(scripted_conversation(tmp_path / "project", module, *args, **options))
        return made[-1]

    (tmp_path / "project").mkdir()
    yield make
    for one in made:
        await one.conversation.close()
        assert one.left_behind() == []
