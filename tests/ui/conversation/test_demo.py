"""`acp-tui demo` on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.conversation_ui import mark_processes, open_conversation_ui

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WELCOME = "The demo agent is a script"


async def test_the_demo_welcomes_the_user_and_shows_the_tour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_TUI_DEMO_SPEED", "instant")
    left_behind = mark_processes(monkeypatch)
    async with open_conversation_ui(tmp_path, "demo", "--policy", "yolo") as ui:
        await ui.sees('Type "tour"')
        assert ui.prompt.text == ""
        await ui.send("tour")
        await ui.until(lambda: ui.session.turn == 1 and ui.session.phase == "idle")
        assert any("What happened" in text for text in ui.said())
    assert left_behind() == []


async def test_the_welcome_is_skipped_if_a_prompt_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_TUI_DEMO_SPEED", "instant")
    mark_processes(monkeypatch)
    async with open_conversation_ui(tmp_path, "demo", "/echo hello") as ui:
        await ui.until(lambda: ui.session.turn == 1 and ui.session.phase == "idle")
        assert not any(WELCOME in text for text in ui.notices())
