"""Visible lines stay in place while entries grow, estimates are corrected and the size changes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from textual.app import App

from acp_tui.session import events as ev
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Content, Session
from acp_tui.ui.transcript.transcript import Transcript
from tests.support.looks import use_theme

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.pilot import Pilot


class Host(App[None]):
    """An app with nothing but a transcript."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(session_id="s", phase="idle")
        use_theme(self, "dark")

    def compose(self) -> ComposeResult:
        yield Transcript(self.session)

    @property
    def view(self) -> Transcript:
        return self.query_one(Transcript)

    def happen(self, *happened: ev.Event) -> None:
        for event in happened:
            self.view.show_changes(reduce(self.session, event, 0.0))

    def row(self, y: int = 0) -> str:
        return self.view.render_line(y).text.rstrip()

    def rows(self) -> list[str]:
        return [self.row(y) for y in range(self.view.size.height)]


def paragraphs(first: int, count: int, words: int = 12) -> str:
    return "".join(f"paragraph {number}: {'word ' * words}\n\n" for number in range(first, first + count))


def prompt(text: str = "hello") -> ev.PromptSent:
    return ev.PromptSent([Content("text", text)])


async def scrolled_up(pilot: Pilot[None], host: Host, lines: int) -> None:
    host.view.scroll_lines(-lines)
    await pilot.pause()
    assert not host.view.following


async def test_the_view_follows_the_end_until_the_user_scrolls_up() -> None:
    host = Host()
    async with host.run_test(size=(80, 20)) as pilot:
        host.happen(prompt(), ev.TextChunk("agent", paragraphs(0, 30)))
        await pilot.pause()
        assert host.view.following
        assert any("paragraph 29" in row for row in host.rows())
        await scrolled_up(pilot, host, 5)
        host.happen(ev.TextChunk("agent", paragraphs(30, 5)))
        await pilot.pause()
        assert host.view.unseen > 0
        assert not any("paragraph 34" in row for row in host.rows())
        host.view.follow()
        await pilot.pause()
        assert (host.view.unseen, host.view.following) == (0, True)
        assert any("paragraph 34" in row for row in host.rows())


async def test_a_growing_message_does_not_move_while_it_is_read() -> None:
    host = Host()
    async with host.run_test(size=(80, 20)) as pilot:
        host.happen(prompt(), ev.TextChunk("agent", paragraphs(0, 200)))
        await pilot.pause()
        await scrolled_up(pilot, host, 120)
        before = host.rows()
        for number in range(200, 260):
            host.happen(ev.TextChunk("agent", paragraphs(number, 1)))
        await pilot.pause()
        assert host.rows() == before


@pytest.mark.parametrize("seed", range(2))
async def test_correcting_estimates_moves_nothing_visible(seed: int) -> None:
    """Scrolling up line by line shows each line once, in order, whatever heights were estimated."""
    chance = random.Random(seed)
    host = Host()
    async with host.run_test(size=(60, 12)) as pilot:
        for turn in range(7):
            host.happen(prompt(f"prompt {turn}"))
            host.happen(
                ev.TextChunk("agent", paragraphs(turn * 100, chance.randint(1, 8), chance.randint(1, 40)))
            )
            host.happen(ev.TurnEnded("end_turn"))
        await pilot.pause()
        while host.view.scroll_offset.y > 0:
            before = host.rows()
            step = min(host.view.scroll_offset.y, chance.randint(1, 7))
            host.view.scroll_lines(-step)
            await pilot.pause(0)
            assert host.rows()[step:] == before[: len(before) - step]


async def test_resizing_keeps_the_words_at_the_top() -> None:
    host = Host()
    async with host.run_test(size=(100, 20)) as pilot:
        host.happen(prompt(), ev.TextChunk("agent", paragraphs(0, 300)))
        await pilot.pause()
        host.view.scroll_lines(-400)
        await pilot.pause()
        first = next(row for row in host.rows() if "paragraph" in row).split(":")[0].strip()
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert any(first + ":" in row for row in host.rows()[:4])


async def test_a_selection_stays_on_its_text_when_entries_above_grow() -> None:
    host = Host()
    async with host.run_test(size=(80, 20)) as pilot:
        host.happen(prompt(), ev.ToolCallChanged("t", announced=True, title="Look", kind="execute"))
        host.happen(ev.TextChunk("agent", "choose these words please\n"))
        await pilot.pause()
        y = next(y for y, row in enumerate(host.rows()) if "choose" in row)
        x = host.row(y).index("these")
        await pilot.mouse_down(Transcript, offset=(x, y))
        await pilot.hover(Transcript, offset=(x + 5, y))
        await pilot.mouse_up(Transcript, offset=(x + 5, y))
        await pilot.pause()
        chosen = host.screen.get_selected_text()
        assert chosen is not None
        assert "these" in chosen
        output = [Content("text", "one\ntwo\nthree\n")]
        host.happen(ev.ToolCallChanged("t", status="failed", content=[*output]))
        await pilot.pause()
        assert host.screen.get_selected_text() == chosen
