"""`acp-tui demo`: what a newcomer meets first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.desk import desk, marked

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WELCOME = "The demo agent is a script"


async def test_a_newcomer_is_told_what_this_is_and_sees_the_tour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_TUI_DEMO_SPEED", "instant")
    left_behind = marked(monkeypatch)
    async with desk(tmp_path, "demo", "--policy", "yolo") as one:
        await one.sees('Type "tour"')
        assert one.prompt.text == ""
        await one.send("tour")
        await one.until(lambda: one.session.turn == 1 and one.session.phase == "idle")
        assert any("What happened" in text for text in one.said())
    assert left_behind() == []


async def test_who_knows_what_to_ask_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_TUI_DEMO_SPEED", "instant")
    marked(monkeypatch)
    async with desk(tmp_path, "demo", "/echo hello") as one:
        await one.until(lambda: one.session.turn == 1 and one.session.phase == "idle")
        assert not any(WELCOME in text for text in one.notices())
