"""The list of commands, and themes chosen from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from acp_tui.session.state import Choice, ConfigOption, Mode, Session
from acp_tui.ui.commands import option_commands
from acp_tui.ui.keys import KEYS
from acp_tui.ui.screens.choose import ChooseScreen
from acp_tui.ui.screens.help import HelpScreen
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.screens.palette import PaletteScreen
from acp_tui.ui.widgets.rows import Rows
from tests.ui.desk import desk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.desk import Desk


async def narrowed(one: Desk, text: str) -> PaletteScreen:
    """The list, with what fits this."""
    await one.press("ctrl+p")
    await one.until(lambda: isinstance(one.app.screen, PaletteScreen))
    screen = one.app.screen
    assert isinstance(screen, PaletteScreen)
    screen.query_one(Input).value = text
    await one.sees(text[:8])
    await one.sees(f" {len(screen._shown)} of {len(screen._choices)} ")
    return screen


def titles(screen: PaletteScreen) -> list[str]:
    return [choice.name for choice in screen._shown]


async def test_it_has_what_can_be_done_now_with_its_keys(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo", size=(120, 60)) as one:
        await one.press("ctrl+p")
        await one.sees("Commands", "Begin a new line", "Ctrl+J Alt+Enter Shift+Enter")
        screen = one.app.screen
        assert isinstance(screen, PaletteScreen)
        shown = titles(screen)
        assert shown.index("Begin a new line") < shown.index("The agent's next mode")
        for name in ("app.quit", "app.help", "agent.restart", "transcript.raw", "edit.undo"):
            assert KEYS[name].help in shown, name
        assert "Fold or unfold everything" in shown  # although the transcript has no focus
        assert "Every command by its name; themes" not in shown


async def test_a_command_is_done_when_it_is_taken(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo") as one:
        await narrowed(one, "The keys, and what they")
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, HelpScreen))
        await one.press("escape")
        await narrowed(one, "To the line's beginning")
        await one.press("escape")
        assert one.app.screen is one.screen


async def test_a_command_is_found_by_its_word_in_the_footer_and_by_its_key(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo", size=(120, 60)) as one:
        for text, title in (
            ("history", "Search what was asked before"),
            ("ctrl+b", "Open or close the panes"),
            ("export", "Export the conversation to a file"),
        ):
            assert titles(await narrowed(one, text))[0] == title
            await one.press("escape")
        assert titles(await narrowed(one, "17")) == []


async def test_modes_are_chosen_by_name(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo") as one:
        other = next(mode for mode in one.session.modes if mode.id != one.session.mode)
        screen = await narrowed(one, other.name)
        at = next(n for n, title in enumerate(titles(screen)) if title.endswith(f": {other.name}"))
        screen.query_one(Rows).selected = at
        await one.press("enter")
        await one.until(lambda: one.session.mode == other.id)


def test_values_of_all_kinds_of_options_are_commands() -> None:
    session = Session()
    session.modes = [Mode("a", "Ask"), Mode("b", "[bold]Build[/]")]
    session.mode = "a"
    session.config_options = [
        ConfigOption("fast", "Fast", "boolean", True),
        ConfigOption("style", "Style", "select", "x", choices=[Choice("x", "Exact"), Choice("y", "")]),
    ]
    taken: list[tuple[str, object]] = []
    commands = list(option_commands(session, lambda option, value: taken.append((option, value))))
    assert [(one.title, one.current) for one in commands] == [
        ("Mode: Ask", True),
        ("Mode: [bold]Build[/]", False),
        ("Fast: off", False),
        ("Style: Exact", True),
        ("Style: y", False),
    ]
    for one in commands:
        one.run()
    assert taken == [("mode", "a"), ("mode", "b"), ("fast", False), ("style", "x"), ("style", "y")]


async def test_a_theme_is_shown_while_the_cursor_is_on_it(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo", "--theme", "light") as one:
        screen = await narrowed(one, "Theme: gruvbox")
        await one.until(lambda: one.app.theme_name == "gruvbox")
        assert one.screen._palette == one.app.palette == screen._palette
        await one.press("escape")
        assert one.app.theme_name == "light"
        assert one.screen._palette == one.app.palette
        await narrowed(one, "Theme: ansi")
        await one.until(lambda: one.app.native_ansi_color)
        await one.press("enter")
        await one.until(lambda: any("To keep it: theme" in toast for toast in one.toasts()))
        assert one.app.theme_name == "ansi"
        assert one.app.native_ansi_color


async def test_moving_on_to_what_is_no_theme_brings_the_colours_back(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo") as one:
        screen = await narrowed(one, "Theme")
        rows = screen.query_one(Rows)
        rows.selected = titles(screen).index("Theme: nord")
        await one.until(lambda: one.app.theme_name == "nord")
        rows.selected = titles(screen).index("Theme…")
        await one.until(lambda: one.app.theme_name == "dark")


async def test_the_list_of_themes_begins_with_the_one_in_force(tmp_path: Path, home: Path) -> None:
    (home / "config" / "themes").mkdir(parents=True)
    (home / "config" / "themes" / "mine.toml").write_text("[colors]\nblue = 1\n")
    async with desk(tmp_path, "demo", "--theme", "nord") as one:
        await narrowed(one, "Theme…")
        await one.press("enter")
        await one.until(
            lambda: isinstance(one.app.screen, ChooseScreen) and len(one.app.screen._choices) < 10
        )
        screen = one.app.screen
        assert isinstance(screen, PaletteScreen)
        assert titles(screen)[screen.query_one(Rows).selected] == "Theme: nord"
        screen.query_one(Rows).selected = titles(screen).index("Theme: mine")
        await one.until(lambda: one.app.theme_name == "mine")
        assert not any("colors.blue" in toast for toast in one.toasts())  # it is only tried
        await one.press("enter")
        await one.until(lambda: any("mine.toml:2: colors.blue" in toast for toast in one.toasts()))


async def test_one_leaves_a_conversation_for_the_launcher_when_the_agent_rests(tmp_path: Path) -> None:
    async with desk(tmp_path, "demo") as one:
        before = one.screen
        await narrowed(one, "Other agents and sessions")
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, LauncherScreen))
        await one.until(lambda: not before.is_attached)
        assert one.made[0].conversation.session.phase == "dead"
