"""Fixture for conversations, which are closed at the end of the test."""

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
    """A function that creates a conversation with a module of `tests/fake_agents`."""

    def __call__(self, module: str = "script", *args: str, **options: Any) -> ScriptedConversation: ...


@pytest.fixture
async def converse(tmp_path: Path) -> AsyncIterator[Converse]:
    """Create conversations, close them after the test, and check that they leave no process."""
    created: list[ScriptedConversation] = []

    def make(module: str = "script", *args: str, **options: Any) -> ScriptedConversation:
        created.append(scripted_conversation(tmp_path / "project", module, *args, **options))
        return created[-1]

    (tmp_path / "project").mkdir()
    yield make
    for chat in created:
        await chat.conversation.close()
        assert chat.left_behind() == []
