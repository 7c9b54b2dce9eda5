"""The help page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.dialogs.palette import PaletteScreen
from acp_tui.ui.keys import SCOPES, TABLE
from tests.support.conversation_ui import open_conversation_ui
from tests.ui.prompt.prompt_app import PromptApp

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import Open


def titles(screen: HelpScreen) -> list[str]:
    return [str(title.render()) for title in screen.query(".help--title").results(Static)]


async def test_the_scopes_of_the_focused_widget_come_first_and_escape_and_f1_close_the_help() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        for key in ("escape", "f1"):
            await pilot.press("f1")
            await pilot.pause()
            assert isinstance(app.screen, HelpScreen)
            assert titles(app.screen)[0] == SCOPES["prompt"].title
            await pilot.press(key)
            await pilot.pause()
            assert app.focused is app.editor
        app.show_queue("one")
        await pilot.pause()
        app.queue.focus()
        await pilot.press("f1")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        assert titles(app.screen)[0] == SCOPES["queue"].title
        assert sorted(titles(app.screen)) == sorted(place.title for place in SCOPES.values())


async def test_every_key_is_listed_as_it_is_bound() -> None:
    app = PromptApp()
    async with app.run_test(size=(120, 700)) as pilot:
        app.push_screen(HelpScreen(keymap={"prompt.send": "f9"}))
        await pilot.pause()
        text = "".join(segment.text for strip in app.screen._compositor.render_strips() for segment in strip)
        assert "F9" in text
        words = set(text.split())
        for key in TABLE:
            if key.id != "prompt.send":
                assert set(key.key_names().split()) <= words, key.id


async def test_question_mark_in_the_transcript_and_f1_over_a_list_open_the_help(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "demo") as one:
        one.transcript.focus()
        await one.press("?")
        await one.until(lambda: isinstance(one.app.screen, HelpScreen))
        assert titles(one.app.screen)[0] == SCOPES["transcript"].title  # type: ignore[arg-type]
        await one.press("escape", "ctrl+p")
        await one.until(lambda: isinstance(one.app.screen, PaletteScreen))
        await one.press("f1")
        await one.until(lambda: isinstance(one.app.screen, HelpScreen))
        assert titles(one.app.screen)[0] == SCOPES["choose"].title  # type: ignore[arg-type]
        await one.press("f1")
        await one.until(lambda: isinstance(one.app.screen, PaletteScreen))


async def test_hints_name_rebound_keys(open_ui: Open, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    keys = '"agent.restart" = "f11"\n"permission.allow" = "o"\n"permission.raw" = "j"\n'
    (home / "config" / "config.toml").write_text(f"[keys]\n{keys}")
    async with open_ui(size=(120, 40)) as one:
        await one.send(["permission", {"toolCallId": "call", "title": "Go"}])
        await one.asked()
        await one.sees("j raw input", "1 o")
        await one.press("o")
        await one.ready()


async def test_typing_searches_the_help_and_each_row_has_one_meaning() -> None:
    app = PromptApp()
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("f1", *"queue", "space", *"remove")
        await pilot.pause()
        text = shown(app)
        assert "Remove the prompt from the queue" in text
        assert "Copy the entry" not in text
        await pilot.press("escape", *"previous", "space", *"hunk")
        await pilot.pause()
        assert "Previous hunk" in shown(app)
        assert "Next hunk" not in shown(app)
        await pilot.press("escape", *"qqqq")
        await pilot.pause()
        assert "No key matches." in shown(app)
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert app.focused is app.editor


def shown(app: PromptApp) -> str:
    return "".join(segment.text for strip in app.screen._compositor.render_strips() for segment in strip)
