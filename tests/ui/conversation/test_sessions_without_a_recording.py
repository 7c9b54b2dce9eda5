"""Sessions that only the agent has stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.conversation_ui import offers
from tests.ui.conversation.test_read_only_sessions import folder_of, methods_sent

if TYPE_CHECKING:
    from tests.support.conversation_ui import Open

SAID = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Said long ago."}}
BOTH = offers(capabilities={"loadSession": True, "sessionCapabilities": {"resume": {}}}, history=[SAID])


async def test_the_history_of_a_session_without_a_recording_is_loaded(open_ui: Open) -> None:
    async with open_ui("script", BOTH, options=("--resume", "session-1"), wait=False) as one:
        await one.sees("Said long ago.")
        assert "session/load" in methods_sent(one)
        assert "session/resume" not in methods_sent(one)
        await one.ready()
        known = folder_of(one)
    async with open_ui("script", BOTH, options=("--resume", known), wait=False) as again:
        await again.sees("Said long ago.")
        await again.ready()
        assert "session/resume" in methods_sent(again)
