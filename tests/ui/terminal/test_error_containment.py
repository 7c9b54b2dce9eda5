"""Unexpected errors are reported once and stay where they happened."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.terminal import error_containment
from acp_tui.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    import pytest

    from tests.support.conversation_ui import Open

Errors = list[BaseException]
ASK = ["permission", {"title": "Run it"}]


async def test_a_widget_that_fails_to_draw_is_left_out_and_retried_later(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch, unexpected_errors: Errors
) -> None:
    asked = []

    def broken(self: StatusLine, y: int) -> None:
        asked.append(y)
        raise RuntimeError("a mistake")

    async with open_ui() as one:
        line = one.screen.query_one(StatusLine)
        monkeypatch.setattr(error_containment, "RETRY_SECONDS", 1e9)
        monkeypatch.setattr(StatusLine, "render_line", broken)
        for _ in range(5):
            line.refresh()
            await one.pilot.pause()
            await one.press("x")
        assert len(asked) == 1
        assert "could not be drawn" in one.text()
        assert one.prompt.text == "xxxxx"
    assert len(unexpected_errors) == 1
    unexpected_errors.clear()


async def test_a_dialog_that_fails_to_compose_is_closed_and_allows_nothing(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch, unexpected_errors: Errors
) -> None:
    def broken(self: PermissionScreen) -> None:
        raise RuntimeError("a mistake")

    async with open_ui() as one:
        monkeypatch.setattr(PermissionScreen, "compose", broken)
        await one.send(ASK)
        await one.until(lambda: unexpected_errors and one.session.phase == "idle")
        assert one.dialog is None
        assert any("a mistake" in toast and "acp-tui.log" in toast for toast in one.toasts())
    unexpected_errors.clear()


async def test_a_worker_that_misses_a_removed_widget_does_not_spoil_the_end(open_ui: Open) -> None:
    async with open_ui() as one:
        app, started = one.app, []

        async def look() -> None:
            try:
                started.append(True)
                await asyncio.Event().wait()
            finally:
                app.screen.query_one("#removed")

        app.run_worker(look())
        await one.until(lambda: started)
        app.exit(7)
    assert (app.failure, app.return_value) == (None, 7)


def test_too_many_errors_exceed_the_limit() -> None:
    now = 0.0
    limit = error_containment.ErrorLimit(lambda: now)
    assert not any(limit.exceeded() for _ in range(error_containment.MAX_ERRORS))
    assert limit.exceeded()
    now += error_containment.ERROR_WINDOW + 1
    assert not limit.exceeded()
