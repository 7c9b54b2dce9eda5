"""Ctrl+Q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

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


async def test_quit_as_a_whole_prompt_asks_and_enter_quits(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.ready()
        await one.press(*"quit", "enter")
        await one.sees("Quit acp-tui?", 'Send "quit" to the agent')
        assert one.prompts() == []
        await one.press("enter")
        await one.until(lambda: one.app._exit)


async def test_exit_can_be_sent_to_the_agent_or_edited(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.ready()
        await one.press(*"Exit", "enter")
        await one.sees('Send "Exit" to the agent')
        await one.press("escape")
        await one.until(lambda: one.prompt.text == "Exit")
        await one.press("enter")
        await one.sees('Send "Exit" to the agent')
        await one.press("down", "enter")
        await one.until(lambda: one.prompts() == ["Exit"])


async def test_the_word_in_a_longer_prompt_is_sent(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.ready()
        await one.press(*"quit it", "enter")
        await one.until(lambda: one.prompts() == ["quit it"])


@pytest.mark.parametrize("key", ["@", "ctrl+r"])
async def test_the_stop_key_says_close_while_it_would_close_a_menu(
    open_ui: Open, tmp_path: Path, key: str
) -> None:
    (tmp_path / "project" / "login.py").write_text("", encoding="utf-8")
    async with open_ui() as one:
        await one.send(["wait_for_cancel"])
        await one.until(lambda: one.screen.label_of("turn.stop") == "stop")
        await one.sees("Esc stop")
        await one.press(key)
        await one.until(lambda: one.prompt.has_open_menu)
        assert one.screen.label_of("turn.stop") == "close"
        await one.until(lambda: "Esc stop" not in one.text())
        await one.press("escape")
        await one.sees("Esc stop")
