"""Toasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import Open


async def test_many_settings_problems_are_summarized(home: Path, open_ui: Open) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text("a1 = 1\nb2 = 1\nc3 = 1\nd4 = 1\n")
    async with open_ui() as ui:
        await ui.until(ui.toasts)
        (told,) = ui.toasts()
        first, second, rest = told.splitlines()
        assert first.startswith(f"{file}:1: a1: unknown key")
        assert second.startswith(f"{file}:2: b2: ")
        assert rest == "2 more problems; run `acp-tui config check`."


async def test_a_visible_toast_is_not_repeated(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send("hello")
        await ui.until(ui.said)
        await ui.press("alt+up")
        await ui.press("e", "e", "e", "o", "e")
        await ui.until(lambda: len(ui.toasts()) == 2)
        assert len(set(ui.toasts())) == 2


async def test_toasts_cover_neither_the_prompt_nor_the_last_lines(open_ui: Open) -> None:
    async with open_ui(size=(80, 24)) as ui:
        await ui.send(["repeat", 20, "a line right across the screen, " * 2 + "up to its end\n\n"])
        await ui.ready()
        for number in range(12):
            ui.screen.notify(f"Something happened, and this tells number {number} of it.")
        await ui.sees("number 11")
        await ui.press(*"hello")
        assert ui.prompt.text == "hello"
        covered = [line for line in ui.lines() if "▌" in line]
        assert ui.lines().index(covered[0]) > 0  # the status line
        assert ui.lines().index(covered[-1]) <= 12


@pytest.mark.parametrize("lines", [1, 20])
async def test_a_new_toast_is_visible_beside_long_ones(open_ui: Open, lines: int) -> None:
    async with open_ui(size=(80, 24)) as ui:
        await ui.send(["repeat", lines, "a line of the conversation\n\n"])
        await ui.ready()
        for number in range(6):
            ui.screen.notify(f"This tells number {number}, and goes on to tell more. " * 4)
        await ui.sees("number 5")
        ui.screen.notify("The newest one.")
        await ui.sees("The newest one.")
        assert not any("number 0" in line for line in ui.lines())


async def test_toasts_take_rows_below_a_page_and_cover_nothing(open_ui: Open, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "a.txt").write_text("old\n")
    text = f"{'a line right across the screen, ' * 3}up to its end\n" * 40
    async with open_ui(size=(80, 24)) as ui:
        await ui.send("hello")  # waits for the baseline
        await ui.until(lambda: ui.said() and ui.session.phase == "idle")
        (project / "a.txt").write_text(text)
        await ui.press("f2")
        await ui.sees("edited by you")
        before = ui.lines()
        ui.app.notify("Something happened. " * 8)
        await ui.sees("Something happened")
        after = ui.lines()
        first = next(number for number, line in enumerate(after) if "y accept" in line)
        assert [line[:79].rstrip() for line in after[:first]] == [
            line[:79].rstrip() for line in before[:first]
        ]
        await ui.press("escape", "alt+o")
        await ui.sees("Overview", "1 ○ scripted")
        ui.app.notify("Something else happened. " * 8)
        await ui.sees("Something else happened", "Enter go to")
        lines = ui.lines()
        assert next(number for number, line in enumerate(lines) if "▌" in line) > 10


async def test_the_cursor_of_the_review_stays_visible_above_a_toast(open_ui: Open, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "a.txt").write_text("old\n")
    async with open_ui(size=(80, 24)) as ui:
        await ui.send("hello")
        await ui.until(lambda: ui.said() and ui.session.phase == "idle")
        (project / "a.txt").write_text("".join(f"line {number}\n" for number in range(40)))
        await ui.press("f2")
        await ui.sees("edited by you")
        await ui.press(*["down"] * 17)
        await ui.until(lambda: any("❯" in line and "line 16" in line for line in ui.lines()))
        ui.app.notify("Something happened. " * 8)
        await ui.sees("Something happened")
        await ui.until(lambda: any("❯" in line and "line 16" in line for line in ui.lines()))
