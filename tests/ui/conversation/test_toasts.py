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
