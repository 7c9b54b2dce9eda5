"""Selecting text with double and triple clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.ui.transcript.view import text_span, word_span

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open


async def click(ui: ConversationUi, text: str, times: int) -> str | None:
    """Click the beginning of a text that the transcript shows. Return what is selected then."""
    await ui.sees(text)
    region = ui.transcript.region
    *_, (row, line) = [(row, line) for row, line in enumerate(ui.lines()) if text in line]
    offset = (line.index(text) - region.x, row - region.y)
    await ui.pilot.click(ui.transcript, offset=offset, times=times)
    await ui.pilot.pause()
    return ui.screen.get_selected_text()


async def test_a_double_click_selects_the_word_and_a_triple_click_the_line(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["say", "First line.\n\nLook at src/app.py, please."])
        await ui.ready()
        assert await click(ui, "src/app.py", 2) == "src/app.py"
        assert await click(ui, "Look at", 3) == "Look at src/app.py, please."
        assert await click(ui, "First", 1) is None


@pytest.mark.parametrize(
    ("text", "cell", "word"),
    [
        ("say hello.", 5, "hello"),
        ("漢字 --option=x", 6, "--option=x"),
        ("漢字 x", 2, "漢字"),
        ("a  b", 1, None),
        ("see https://example.org/a?b=1).", 8, "https://example.org/a?b=1"),
        ("in ~/src/ now", 4, "~/src/"),
    ],
)
def test_a_word_can_be_a_path_an_address_or_an_option(text: str, cell: int, word: str | None) -> None:
    span = word_span(text, cell)
    assert (None if span is None else text[slice(*span)]) == word


def test_the_space_around_a_line_is_not_selected() -> None:
    assert text_span("  a b ") == (2, 5)
    assert text_span("   ") is None
