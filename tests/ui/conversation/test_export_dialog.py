"""Exporting from the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.config.paths import paths

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.desk import Open


async def test_the_conversation_is_written_where_it_is_said(open_desk: Open, tmp_path: Path) -> None:
    async with open_desk() as desk:
        await desk.send("hello there")
        await desk.until(lambda: desk.session.phase == "idle" and desk.said())
        await desk.press("f9")
        await desk.sees("Export the conversation", "Markdown", "HTML", "JSON")
        await desk.press("down", "enter")
        await desk.until(lambda: any("Exported to" in toast for toast in desk.toasts()))
        (file,) = (paths().data / "exports").iterdir()
        assert str(file) in desk.toasts()[-1]
        assert file.suffix == ".html"
        assert "hello there" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        assert list((tmp_path / "project").iterdir()) == []


async def test_what_is_not_recorded_cannot_be_exported(open_desk: Open) -> None:
    async with open_desk(options=("--no-log",)) as desk:
        await desk.press("f9")
        await desk.sees("Export the conversation")
        await desk.press("enter")
        await desk.until(lambda: any("is not recorded" in toast for toast in desk.toasts()))
        assert not (paths().data / "exports").exists()
