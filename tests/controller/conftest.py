"""Conversations for one test, ended with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.support.controller import Held, held

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acp_tui.controller import Conversation


async def restart(conversation: Conversation) -> None:
    """Start the agent again and reopen the session, as the screen does."""
    await conversation.reconnect()
    await conversation.open_again()


class Hold(Protocol):
    """Takes the module in `tests/fake_agents`, its arguments and the options of the conversation."""

    def __call__(self, module: str = "script", *args: str, **options: Any) -> Held: ...


@pytest.fixture
async def hold(tmp_path: Path) -> AsyncIterator[Hold]:
    """Makes conversations; nothing of them may live when the test is over."""
    made: list[Held] = []

    def make(module: str = "script", *args: str, **options: Any) -> Held:
        made.append(held(tmp_path / "project", module, *args, **options))
        return made[-1]

    (tmp_path / "project").mkdir()
    yield make
    for one in made:
        await one.conversation.close()
        assert one.left_behind() == []
