"""The command palette and the list of themes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.widgets import Input

from acp_tui.session.state import Choice, ConfigOption, Mode, Session
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.dialogs.palette import PaletteScreen
from acp_tui.ui.keys.commands import option_commands
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.theme.themes import load_theme
from acp_tui.ui.widgets.select_list import SelectList
from tests.support.conversation_ui import open_conversation_ui

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi


async def narrowed(one: ConversationUi, text: str) -> PaletteScreen:
    """Open the palette and filter it."""
    await one.press("ctrl+p")
    await one.until(lambda: isinstance(one.app.screen, PaletteScreen))
    screen = one.app.screen
    assert isinstance(screen, PaletteScreen)
    screen.query_one(Input).value = text
    await one.sees(text[:8])
    await one.sees(f" {len(screen._shown)} of {len(screen._choices)} ")
    return screen


def _begins_with(screen: PaletteScreen, title: str) -> bool:
    return titles(screen)[:1] == [title]


def titles(screen: PaletteScreen) -> list[str]:
    return [choice.name for choice in screen._shown]


async def test_commands_are_listed_with_their_keys_and_the_best_matches_first(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "demo", size=(120, 60)) as one:
        await one.press("ctrl+p")
        await one.sees("Commands", "New session", "Change agent options", "Ctrl+O")
        screen = one.app.screen
        assert isinstance(screen, PaletteScreen)
        shown = titles(screen)
        assert shown[:5] == [
            "New session",
            "Open log in $EDITOR",
            "Send a message to the agent",
            "Change theme",
            "New tab: agent or session",
        ]
        assert shown.index("Change policy") < shown.index("Insert newline") < shown.index("Policy: yolo")
        for title in ("Quit acp-tui", "Show help", "Restart agent", "View raw JSON"):
            assert title in shown, title
        assert "Fold all entries" in shown  # although the transcript has no focus
        assert len(shown) < 80
        assert not {"Undo", "Select", "Scroll up"} & set(shown)  # moving and editing have their keys
        for text, title in FIRST.items():
            screen.query_one(Input).value = text
            await one.until(partial(_begins_with, screen, title))
        screen.query_one(Input).value = "17"
        await one.sees("No matches")


FIRST = {
    "new tab": "New tab: agent or session",
    "copy": "Copy last answer",
    "session": "New session",
    "new": "New session",
    "policy": "Change policy",
    "yolo": "Policy: yolo",
    "permissions": "Permission rules",
    "log": "Open log in $EDITOR",
    "history": "Search prompt history",
    "ctrl+b": "Toggle panes",
    "export": "Export conversation",
    "restart": "Restart agent",
}
"""What is typed, and what is found first."""


async def test_modes_and_the_policy_are_changed_and_shown_in_the_status_line(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "demo", size=(120, 40)) as one:
        await one.until(lambda: "mode: Ask ▾ · policy: ask ▾" in one.status())
        await one.press("alt+p")
        await one.sees("Policy: what is allowed without asking", "accept-edits")
        screen = one.app.screen
        assert isinstance(screen, ChooseScreen)
        assert screen._shown[screen.query_one(SelectList).selected].value == "ask"
        await one.press("down", "down", "enter")
        await one.until(lambda: "policy: yolo" in one.status())
        assert any("Policy changed to yolo" in notice for notice in one.notices())
        await narrowed(one, "Policy: read-only")
        await one.press("enter")
        await one.until(lambda: "policy: read-only" in one.status())
        assert one.made[0].conversation.options.policy == "read-only"
        other = next(mode for mode in one.session.modes if mode.id != one.session.mode)
        found = await narrowed(one, other.name)
        at = next(n for n, title in enumerate(titles(found)) if title.endswith(f": {other.name}"))
        found.query_one(SelectList).selected = at
        await one.press("enter")
        await one.until(lambda: one.session.mode == other.id)


async def test_the_permission_rules_are_opened_from_the_palette_and_by_a_key(tmp_path: Path) -> None:
    async with open_conversation_ui(
        tmp_path, "demo", "--policy", "accept-edits", "--allow", "execute:pytest"
    ) as one:
        await narrowed(one, "Permission rules")
        await one.press("enter")
        await one.sees("policy: accept-edits", "This run", "`pytest …`", "--allow execute:pytest")
        await one.press("escape")
        await one.until(lambda: one.app.screen is one.screen)
        await one.press("shift+f4")
        await one.sees("policy: accept-edits", "`pytest …`")


async def test_enter_runs_the_command_and_escape_leads_back(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "demo") as one:
        before, folder = one.screen, one.made[0].conversation.folder.id
        await narrowed(one, "Show help")
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, HelpScreen))
        await one.press("escape")
        await narrowed(one, "New tab: agent or session")
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, LauncherScreen) and one.app.screen._shown)
        await one.sees("Esc back")
        await one.press("escape")
        await one.until(lambda: one.app.screen is before)
        await one.send("still there")
        await one.until(lambda: "still there" in one.prompts() and one.session.phase == "idle")
        await narrowed(one, "New session")
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, ConversationScreen) and one.screen is not before)
        await one.ready()
        assert one.made[1].conversation.launch.name == "demo"
        assert one.made[1].conversation.cwd == one.made[0].conversation.cwd
        assert one.made[1].conversation.folder.id != folder


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


async def test_a_selected_theme_is_previewed(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "demo", "--theme", "light") as one:
        screen = await narrowed(one, "Theme: gruvbox")
        await one.until(lambda: one.app.theme_name == "gruvbox")
        assert current_palette() == load_theme("gruvbox").palette
        await one.press("escape")
        assert one.app.theme_name == "light"
        assert current_palette() == load_theme("light").palette
        screen = await narrowed(one, "Theme")
        rows = screen.query_one(SelectList)
        rows.selected = titles(screen).index("Theme: nord")
        await one.until(lambda: one.app.theme_name == "nord")
        rows.selected = titles(screen).index("Change theme")
        await one.until(lambda: one.app.theme_name == "light")
        screen.query_one(Input).value = "Theme: ansi"
        await one.until(lambda: one.app.native_ansi_color)
        await one.press("enter")
        await one.until(lambda: any("To keep this theme" in toast for toast in one.toasts()))
        assert one.app.theme_name == "ansi"
        assert one.app.native_ansi_color


async def test_the_current_theme_is_selected_first(tmp_path: Path, home: Path) -> None:
    (home / "config" / "themes").mkdir(parents=True)
    (home / "config" / "themes" / "mine.toml").write_text("[colors]\nblue = 1\n")
    async with open_conversation_ui(tmp_path, "--theme", "nord", wait=False) as one:
        await one.until(lambda: isinstance(one.app.screen, LauncherScreen) and one.app.screen._shown)
        await narrowed(one, "Change theme")
        await one.press("enter")
        await one.until(
            lambda: isinstance(one.app.screen, ChooseScreen) and len(one.app.screen._choices) < 10
        )
        screen = one.app.screen
        assert isinstance(screen, PaletteScreen)
        assert titles(screen)[screen.query_one(SelectList).selected] == "Theme: nord"
        screen.query_one(SelectList).selected = titles(screen).index("Theme: mine")
        await one.until(lambda: one.app.theme_name == "mine")
        assert not any("colors.blue" in toast for toast in one.toasts())  # it is only tried
        await one.press("enter")
        await one.until(lambda: any("mine.toml:2: colors.blue" in toast for toast in one.toasts()))


async def test_groups_have_a_column_and_an_idle_turn_cannot_be_stopped(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "demo", size=(120, 60)) as one:
        screen = await narrowed(one, "session")
        assert "Stop the turn" not in [choice.name for choice in screen._choices]
        rows = [line for line in one.lines() if "New session" in line or "Sessions and search" in line]
        groups = ("Session  ", "Program  ")
        columns = {line.index(group) for line in rows for group in groups if group in line}
        assert len(rows) == 2
        assert len(columns) == 1
