"""The menu of the agent's commands."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from acp_tui.session.state import SlashCommand
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.command_matching import match_commands
from acp_tui.ui.prompt.command_menu import CommandMenu
from acp_tui.ui.widgets.key_bar import KeyBar
from tests.ui.prompt.host import Host, write, write_at_once


def menu(app: Host) -> CommandMenu:
    return app.query_one(CommandMenu)


def drawn(app: Host) -> str:
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
def test_what_is_typed_ranks_the_commands(typed: str, names: list[str]) -> None:
    commands = [
        SlashCommand("edit"),
        SlashCommand("explain"),
        SlashCommand("review pr"),
        SlashCommand("review"),
    ]
    assert [match.command.name for match in match_commands(commands, typed)] == names


async def test_a_slash_opens_the_menu_above_the_line_and_deleting_it_closes_it() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "/")
        assert menu(app).is_open
        assert not menu(app).region.overlaps(app.prompt.region)
        assert Region(0, 0, 80, 24).contains_region(menu(app).region)
        await pilot.press("backspace")
        await pilot.pause()
        assert not menu(app).is_open


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_many_commands_show_few_rows_and_never_cover_the_line(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.prompt.commands = [
            SlashCommand(f"command-{number}", "word " * 30, "<hint>") for number in range(50)
        ]
        await write(pilot, "/")
        assert menu(app).choices.rows <= 8
        assert menu(app).choices.size.height == menu(app).choices.height
        assert menu(app).region.y >= 0
        assert not menu(app).region.overlaps(app.prompt.region)
        await pilot.press("up", "tab")
        await pilot.pause()
        assert app.prompt.text == "/command-49 "


async def test_the_whole_description_of_the_marked_command_is_shown_where_its_row_cuts_it() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.prompt.commands = [
            SlashCommand("one", f"{'long ' * 20}to the end"),
            SlashCommand("two", f"{'wide ' * 20}to the last"),
        ]
        await write(pilot, "/")
        assert "to the end" in drawn(app)
        height = menu(app).region.height
        await pilot.press("down")
        await pilot.pause()
        assert "to the last" in drawn(app)
        assert menu(app).region.height == height


@pytest.mark.parametrize("key", ["tab", "enter"])
async def test_the_marked_command_is_written_out_and_its_hint_shown(key: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/ed")
        await pilot.press(key)
        await pilot.pause()
        assert app.prompt.text == "/edit "
        assert not menu(app).is_open
        assert app.editor.suggestion == "<path>"
        await write(pilot, "x")
        assert app.editor.suggestion == ""


async def test_a_hint_is_never_sent() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/ed")
        await pilot.press("tab", "right", "enter")
        await pilot.pause()
        (sent,) = app.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/edit "


async def test_arrows_choose_another() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/e")
        await pilot.press("down", "tab")
        await pilot.pause()
        assert app.prompt.text == "/explain "


async def test_names_with_spaces_are_completed() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/review p")
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.text == "/review pr "
        assert app.editor.suggestion == "<number>"


async def test_enter_sends_a_command_that_is_written_in_full() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/review")
        assert menu(app).is_open  # there is a longer one too
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/review"
        assert not menu(app).is_open


@pytest.mark.parametrize("before", ["", "/"], ids=["closed", "open"])
async def test_keys_mean_the_same_however_quickly_they_come(before: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, before)
        await write_at_once(pilot, "/review"[len(before) :], "enter")
        (sent,) = app.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/review"
        await write(pilot, before)
        await write_at_once(pilot, "/ed"[len(before) :], "enter")
        assert app.prompt.text == "/edit "
        await pilot.press("ctrl+u")
        await write(pilot, before)
        await write_at_once(pilot, "/re"[len(before) :], "down", "tab")
        assert app.prompt.text == "/review pr "
        assert app.focused is app.editor


async def test_of_two_names_that_differ_in_capitals_the_written_one_is_sent() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.commands = [SlashCommand("Review"), SlashCommand("review")]
        await write(pilot, "/review")
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        assert sent.text == "/review"


async def test_escape_closes_it_until_another_command_is_begun() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/e")
        await pilot.press("escape")
        await write(pilot, "x")
        assert not menu(app).is_open
        await pilot.press("ctrl+u")
        await write(pilot, "/e")
        assert menu(app).is_open


async def test_with_the_menu_its_keys_leave_the_footer() -> None:
    app = Host()
    async with app.run_test(size=(100, 24)) as pilot:
        footer = app.query_one(KeyBar)
        await write(pilot, "/e")
        assert "Tab complete" in footer.render_line(0).text
        await pilot.press("escape")
        await pilot.pause()
        assert footer.render_line(0).text.startswith("Enter send")
        assert "Tab complete" not in footer.render_line(0).text


async def test_paths_and_second_lines_are_no_commands() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/usr/bin")
        assert not menu(app).is_open
        await pilot.press("ctrl+u")
        await write(pilot, "a\n/e")
        assert not menu(app).is_open


async def test_arguments_before_the_cursor_stay_when_the_name_is_completed() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/ed")
        await pilot.press("tab")
        await write(pilot, "a.py")
        await pilot.press("home", "right", "right", "right", "delete", "delete", "delete")
        await write(pilot, "i")
        await pilot.press("tab")
        await pilot.pause()
        assert app.prompt.text == "/edit a.py"


async def test_agents_texts_are_data() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.commands = [
            SlashCommand("[b]x[/b]\x1b]0;t\x07", "[red]\u202eboo\n\nline", "[@click=app.quit]q")
        ]
        await write(pilot, "/")
        lines = [menu(app).choices.render_line(0).text]
        assert "/[b]x[/b]␛]0;t␇ [@click=app.quit]q" in lines[0]
        assert "[red]‹202e›boo  line" in lines[0]


async def test_commands_that_come_late_open_the_menu() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.commands = []
        await write(pilot, "/ex")
        assert not menu(app).is_open
        app.prompt.commands = [SlashCommand("explain")]
        await pilot.pause()
        assert menu(app).is_open


async def test_a_click_takes_a_command() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await write(pilot, "/")
        await pilot.click(menu(app).choices, offset=(5, 1))
        await pilot.pause()
        assert app.prompt.text == "/explain "
        assert app.focused is app.editor
