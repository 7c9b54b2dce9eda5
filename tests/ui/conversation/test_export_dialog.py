"""Exporting the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.config.paths import paths

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import Open


async def test_the_toast_names_the_exported_file(open_ui: Open, tmp_path: Path) -> None:
    async with open_ui() as ui:
        await ui.send("hello there")
        await ui.until(lambda: ui.session.phase == "idle" and ui.said())
        await ui.press("f9")
        await ui.sees("Export the conversation", "Markdown", "HTML", "JSON")
        await ui.press("down", "enter")
        await ui.until(lambda: any("Exported to" in toast for toast in ui.toasts()))
        (file,) = (paths().data / "exports").iterdir()
        assert str(file) in ui.toasts()[-1]
        assert file.suffix == ".html"
        assert "hello there" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        assert list((tmp_path / "project").iterdir()) == []


async def test_an_unrecorded_conversation_cannot_be_exported(open_ui: Open) -> None:
    async with open_ui(options=("--no-log",)) as ui:
        await ui.press("f9")
        await ui.sees("Export the conversation")
        await ui.press("enter")
        await ui.until(lambda: any("is not recorded" in toast for toast in ui.toasts()))
        assert not (paths().data / "exports").exists()
