"""Ctrl+Q."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.conversation_ui import Open


async def test_ctrl_q_during_a_turn_quits_only_when_repeated_even_over_a_dialog(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send(["permission", {"title": "may I?"}])
        await one.asked()
        await one.press("ctrl+q")
        await one.until(lambda: any("Press Ctrl+Q again to quit" in toast for toast in one.toasts()))
        assert one.app.is_running
        await one.press("ctrl+q")
        await one.until(lambda: one.app._exit)
