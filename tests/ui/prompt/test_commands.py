"""The menu of the agent's slash commands."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from acp_tui.session.state import SlashCommand
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.menus import CommandMenu, match_commands
from acp_tui.ui.widgets.bar import KeyBar
from tests.ui.prompt.prompt_app import PromptApp, type_text, type_without_pauses


def menu(app: PromptApp) -> CommandMenu:
    return app.query_one(CommandMenu)


def menu_text(app: PromptApp) -> str:
    choices = menu(app).choices
    return " ".join(choices.render_line(y).text.strip() for y in range(choices.size.height))


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["edit", "explain", "review pr", "review"]),
        ("e", ["edit", "explain", "review", "review pr"]),
        ("review", ["review", "review pr"]),
        ("pr", ["review pr"]),
        ("rvw", ["review pr", "review"]),
        ("review p", ["review pr"]),
        ("edit x", []),
        ("REV", ["review", "review pr"]),
        ("usr/bin", []),
    ],
)
def test_commands_are_ranked_by_how_well_they_match(typed: str, names: list[str]) -> None:
    commands = [
        SlashCommand("edit"),
        SlashCommand("explain"),
        SlashCommand("review pr"),
        SlashCommand("review"),
    ]
    assert [match.command.name for match in match_commands(commands, typed)] == names


async def test_a_slash_opens_the_menu_and_deleting_it_closes_it() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await type_text(pilot, "/")
        assert menu(app).is_open
        assert not menu(app).region.overlaps(app.prompt.region)
        assert Region(0, 0, 80, 24).contains_region(menu(app).region)
        await pilot.press("backspace")
        await pilot.pause()
        assert not menu(app).is_open


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_the_menu_is_limited_and_never_covers_the_prompt(size: tuple[int, int]) -> None:
    app = PromptApp()
    async with app.run_test(size=size) as pilot:
        app.prompt.commands = [
            SlashCommand(f"command-{number}", "word " * 30, "<hint>") for number in range(50)
        ]
        await type_text(pilot, "/")
        assert menu(app).choices.rows <= 8
        assert menu(app).choices.size.height == menu(app).choices.height
        assert menu(app).region.y >= 0
        assert not menu(app).region.overlaps(app.prompt.region)
        await pilot.press("up", "tab")
        await pilot.pause()
        assert app.prompt.text == "/command-49 "


async def test_the_full_description_of_the_selected_command_is_shown_below() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.prompt.commands = [
            SlashCommand("one", f"{'long ' * 20}to the end"),
            SlashCommand("two", f"{'wide ' * 20}to the last"),
        ]
        await type_text(pilot, "/")
        assert "to the end" in menu_text(app)
        height = menu(app).region.height
        await pilot.press("down")
        await pilot.pause()
        assert "to the last" in menu_text(app)
        assert menu(app).region.height == height


async def test_the_selected_command_is_completed_and_its_hint_shown() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        for key in ("tab", "enter"):
            await type_text(pilot, "/ed")
            await pilot.press(key)
            await pilot.pause()
            assert app.prompt.text == "/edit "
            assert not menu(app).is_open
            assert app.editor.suggestion == "<path>"
            await type_text(pilot, "x")
            assert app.editor.suggestion == ""
            await pilot.press("ctrl+u")
        await type_text(pilot, "/e")
        await pilot.press("down", "tab")
        await pilot.pause()
        assert app.prompt.text == "/explain "


async def test_the_hint_is_not_part_of_the_prompt() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/ed")
        await pilot.press("tab", "right", "enter")
        await pilot.pause()
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/edit "


async def test_names_with_spaces_are_completed() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/review p")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.text == "/review pr "
        assert app.editor.suggestion == "<number>"


async def test_enter_sends_a_fully_typed_command() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/review")
        assert menu(app).is_open  # there is a longer one too
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/review"
        assert not menu(app).is_open


@pytest.mark.parametrize("before", ["", "/"], ids=["closed", "open"])
async def test_keys_act_the_same_when_typed_without_pauses(before: str) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, before)
        await type_without_pauses(pilot, "/review"[len(before) :], "enter")
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/review"
        await type_text(pilot, before)
        await type_without_pauses(pilot, "/ed"[len(before) :], "enter")
        assert app.prompt.text == "/edit "
        await pilot.press("ctrl+u")
        await type_text(pilot, before)
        await type_without_pauses(pilot, "/re"[len(before) :], "down", "tab")
        assert app.prompt.text == "/review pr "
        assert app.focused is app.editor


async def test_names_that_differ_in_case_are_sent_as_typed() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.commands = [SlashCommand("Review"), SlashCommand("review")]
        await type_text(pilot, "/review")
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/review"


async def test_escape_closes_the_menu_until_another_command_is_typed() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/e")
        await pilot.press("escape")
        await type_text(pilot, "x")
        assert not menu(app).is_open
        await pilot.press("ctrl+u")
        await type_text(pilot, "/e")
        assert menu(app).is_open


async def test_the_footer_shows_menu_keys_only_while_the_menu_is_open() -> None:
    app = PromptApp()
    async with app.run_test(size=(100, 24)) as pilot:
        footer = app.query_one(KeyBar)
        await type_text(pilot, "/e")
        assert "Tab complete" in footer.render_line(0).text
        await pilot.press("escape")
        await pilot.pause()
        assert footer.render_line(0).text.startswith("Enter send")
        assert "Tab complete" not in footer.render_line(0).text


async def test_paths_and_later_lines_do_not_open_the_menu() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/usr/bin")
        assert not menu(app).is_open
        await pilot.press("ctrl+u")
        await type_text(pilot, "a\n/e")
        assert not menu(app).is_open


async def test_completing_the_name_keeps_the_argument() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/ed")
        await pilot.press("tab")
        await type_text(pilot, "a.py")
        await pilot.press("home", "right", "right", "right", "delete", "delete", "delete")
        await type_text(pilot, "i")
        await pilot.press("tab")
        await pilot.pause()
        assert app.prompt.text == "/edit a.py"


async def test_texts_of_the_agent_are_shown_as_plain_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.commands = [
            SlashCommand("[b]x[/b]\x1b]0;t\x07", "[red]\u202eboo\n\nline", "[@click=app.quit]q")
        ]
        await type_text(pilot, "/")
        lines = [menu(app).choices.render_line(0).text]
        assert "/[b]x[/b]␛]0;t␇ [@click=app.quit]q" in lines[0]
        assert "[red]‹202e›boo  line" in lines[0]


async def test_commands_that_arrive_late_open_the_menu() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.commands = []
        await type_text(pilot, "/ex")
        assert not menu(app).is_open
        app.prompt.commands = [SlashCommand("explain")]
        await pilot.pause()
        assert menu(app).is_open


async def test_a_click_completes_a_command() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "/")
        await pilot.click(menu(app).choices, offset=(5, 1))
        await pilot.pause()
        assert app.prompt.text == "/explain "
        assert app.focused is app.editor
