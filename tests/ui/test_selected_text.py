"""Text that is selected with the mouse can be read, in every theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.color import Color

from acp_tui.ui.theme.themes import BUILT_IN
from acp_tui.ui.transcript.view import TranscriptView
from acp_tui.ui.widgets.body_scroller import BodyScroller
from tests.support.looks import Show, entries_app
from tests.ui.test_theme_looks import conversation
from tests.ui.test_theming import contrast_of

if TYPE_CHECKING:
    from textual.pilot import Pilot

READABLE = 4.5
"""WCAG's contrast for text."""
CYAN, BLACK = 6, 0


def transcript_app(theme: str) -> Show:
    session, entries = conversation()
    session.entries = entries
    return Show(theme, widgets=lambda: [TranscriptView(session)])


def page_app(theme: str) -> Show:
    session, entries = conversation()
    return entries_app(theme, [(entry, False) for entry in entries], session)


async def drag(pilot: Pilot[None], widget: type[BodyScroller] | type[TranscriptView]) -> None:
    await pilot.mouse_down(widget, offset=(1, 1))
    await pilot.hover(widget, offset=(70, 25))
    await pilot.mouse_up(widget, offset=(70, 25))
    await pilot.pause()


@pytest.mark.parametrize("theme", BUILT_IN)
@pytest.mark.parametrize("widget", [BodyScroller, TranscriptView])
async def test_selected_text_stands_out_from_its_background(
    theme: str, widget: type[BodyScroller] | type[TranscriptView]
) -> None:
    app = page_app(theme) if widget is BodyScroller else transcript_app(theme)
    async with app.run_test(size=(100, 56)) as pilot:
        await pilot.pause()
        if widget is TranscriptView:
            app.query_one(TranscriptView).entry_layout.rebuild()
            app.query_one(TranscriptView).on_resize()
            await pilot.pause()
        before = cells(app)
        await drag(pilot, widget)
        selected = [now for was, now in zip(before, cells(app), strict=True) if was != now]
        assert len(selected) > 300
        for text, front, back in selected:
            if theme == "ansi":
                assert (front.number, back.number) == (BLACK, CYAN)
            elif text.strip():
                assert contrast_of(front, back) >= READABLE, text


def cells(app: Show) -> list[tuple[str, Color, Color]]:
    """Each cell that is drawn: character, foreground, background."""
    found = []
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            assert style is not None
            front, back = style.color or Color.default(), style.bgcolor or Color.default()
            found += [(character, front, back) for character in text]
    return found
