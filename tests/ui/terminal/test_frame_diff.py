"""What a terminal shows after the differences is what it shows after Textual's own output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from acp_tui.controller.player import INSTANT, Player
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.replay import ReplayScreen
from acp_tui.ui.terminal import frame_diff
from acp_tui.ui.terminal.frame_diff import FrameDiff
from tests.support.recordings import WIRELOGS, records
from tests.support.waiting import until

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen

CONSOLE = Console(color_system="truecolor", force_terminal=True)
RECORDED = ("claude-code-edit", "codex-compact", "kimi-code-shell")


class TwoTerminals:
    """A terminal that gets the output of Textual, and one that gets the differences."""

    def __init__(self) -> None:
        self.diff = FrameDiff()
        self.size = (0, 0)

    def resize(self, width: int, height: int) -> None:
        if self.size != (width, height):
            self.size = (width, height)
            self.diff.forget()
            self.expected, self.actual = pyte.Screen(width, height), pyte.Screen(width, height)
            self.streams = pyte.Stream(self.expected), pyte.Stream(self.actual)
            self.written = 0

    def show(self, update: LayoutUpdate | ChopsUpdate) -> None:
        """Show an update on both terminals, and compare every cell."""
        output = self.diff.encode(update, *self.size, CONSOLE)
        self.written += len(output)
        self.streams[0].feed(f"\x1b[H{update.render_segments(CONSOLE)}")
        self.streams[1].feed(output)
        for y in range(self.size[1]):
            assert cells(self.actual, y) == cells(self.expected, y), y


def cells(screen: pyte.Screen, y: int) -> list[pyte.screens.Char]:
    return [screen.buffer[y][x] for x in range(screen.columns)]


def full(rows: list[Strip], width: int) -> LayoutUpdate:
    return LayoutUpdate([[row] for row in rows], Region(0, 0, width, len(rows)))


def strip(text: str, width: int, style: Style | None = None) -> Strip:
    return Strip([Segment(text, style)]).adjust_cell_length(width)


# ----------------------------------------------------------------------------- real screens


def fits(update: LayoutUpdate | ChopsUpdate, width: int, height: int) -> bool:
    """Return False for an update that was made before a resize. Another one follows."""
    if isinstance(update, LayoutUpdate):
        return update.region.size == (width, height)
    return (max(update.chop_ends[0]), len(update.chop_ends)) == (width, height)


class ComparedApp(AcpTui):
    """Shows each frame on both terminals, although the app itself draws nothing in tests."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.terminals = TwoTerminals()
        self.frames = 0

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, LayoutUpdate | ChopsUpdate) and fits(renderable, *self.size):
            self.terminals.resize(*self.size)
            self.terminals.show(renderable)
            self.frames += 1
        super()._display(screen, renderable)


@pytest.mark.parametrize("name", RECORDED)
async def test_a_recorded_session_looks_the_same_while_it_is_scrolled_searched_and_resized(name: str) -> None:
    player = Player(records(next(path for path in WIRELOGS if path.stem == name)), title=name, speed=INSTANT)
    app = ComparedApp(lambda: ReplayScreen(player))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: player.ended)
        for keys in (
            ["home"],
            ["pagedown"] * 3,
            ["down"] * 8,
            ["up"] * 5,
            ["end"],
            ["ctrl+f", "a", "escape"],
        ):
            await pilot.press(*keys)
        for size in ((120, 40), (61, 20), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.press("ctrl+p", "escape", "pageup", "up", "up", "end", "ctrl+b")
        assert app.frames > 30


# ----------------------------------------------------------------------------- random edits

STYLES = st.sampled_from(
    [
        None,
        Style(),
        Style(color="red"),
        Style(bgcolor="#102030", bold=True),
        Style(link="https://example.com"),
    ]
)
WORDS = st.text(st.sampled_from("ab  ─é日本█"), min_size=1, max_size=12)


@st.composite
def edits(draw: st.DrawFn) -> tuple[int, list[tuple[str, int, int, str, Style | None]]]:
    height = draw(st.integers(4, 12))
    row = st.integers(0, height - 1)
    kinds = st.sampled_from(["write", "scroll", "span"])
    return height, draw(st.lists(st.tuples(kinds, row, st.integers(-4, 4), WORDS, STYLES), max_size=12))


@given(edits())
@settings(deadline=None, max_examples=150)
def test_random_edits_and_scrolling_look_the_same(
    edited: tuple[int, list[tuple[str, int, int, str, Style | None]]],
) -> None:
    height, steps = edited
    width = 24
    rows = [strip(f"line {y} 日本", width) for y in range(height)]
    terminals = TwoTerminals()
    terminals.resize(width, height)
    terminals.show(full(rows, width))
    for kind, y, distance, text, style in steps:
        if kind == "scroll":
            region = rows[y:]
            kept = region[distance:] if distance > 0 else region[:distance] if distance else region
            new = [strip(f"{text}{number}", width, style) for number in range(len(region) - len(kept))]
            rows[y:] = [*kept, *new] if distance > 0 else [*new, *kept]
        else:
            rows[y] = strip(text * 2, width, style)
        if kind == "span":
            chops = [{0: row} for row in rows]
            terminals.show(ChopsUpdate(chops, [(y, 0, width)], [[width]] * height))
        else:
            terminals.show(full(rows, width))


# ----------------------------------------------------------------------------- what is written


def shown(*rows: str, width: int = 40) -> TwoTerminals:
    terminals = TwoTerminals()
    terminals.resize(width, len(rows))
    terminals.show(full([strip(row, width) for row in rows], width))
    terminals.written = 0
    return terminals


def test_an_unchanged_screen_costs_nothing() -> None:
    terminals = shown("one", "two")
    terminals.show(full([strip("one", 40), strip("two", 40)], 40))
    assert terminals.written == 0


def test_lines_drawn_again_are_not_split_into_cells_again() -> None:
    terminals = shown("one", "two")
    first, second, third = (strip(text, 40) for text in ("three", "four", "five"))
    terminals.show(full([first, second], 40))
    with patch.object(frame_diff, "_cells", wraps=frame_diff._cells) as split:
        terminals.show(full([first, third], 40))
    assert [call.args[0] for call in split.call_args_list] == [third]


def test_a_line_drawn_again_after_another_is_written_again() -> None:
    terminals = shown("one", "two")
    first, second = strip("three", 40), strip("four", 40)
    for line in (first, second, first):
        terminals.show(full([line, line], 40))
    assert terminals.actual.display[0].rstrip() == "three"


def test_only_the_cells_that_differ_are_written() -> None:
    terminals = shown("a long line with one word", "two")
    terminals.show(full([strip("a long line with ten word", 40), strip("two", 40)], 40))
    assert terminals.written < 20


@pytest.mark.parametrize("distance", [1, 3, -1, -3])
def test_rows_that_only_scrolled_are_not_written_again(distance: int) -> None:
    lines = [f"line number {number}" for number in range(30)]
    terminals = shown(*lines[5:25])
    moved = lines[5 + distance : 25 + distance]
    terminals.show(full([strip(line, 40) for line in moved], 40))
    assert terminals.written < 40 + 30 * abs(distance)


def test_rows_scroll_beside_a_column_that_stays() -> None:
    def rows(first: int) -> list[list[Strip]]:
        return [[strip(f"line number {first + y}", 40), strip(f"pane {y % 7}", 10)] for y in range(20)]

    terminals = TwoTerminals()
    terminals.resize(50, 20)
    region = Region(0, 0, 50, 20)
    terminals.show(LayoutUpdate(list(rows(0)), region))
    terminals.written = 0
    terminals.show(LayoutUpdate(list(rows(1)), region))
    assert terminals.written < 20 * 24  # cheaper than 20 lines


def test_a_row_with_joined_emoji_is_written_whole_and_positions_the_text_behind_it() -> None:
    diff = FrameDiff()
    diff.encode(full([strip("🧑‍💻 old", 40), strip("two", 40)], 40), 40, 2, CONSOLE)
    output = diff.encode(full([strip("🧑‍💻 new", 40), strip("two", 40)], 40), 40, 2, CONSOLE)
    assert "🧑‍💻" in output
    assert "🧑‍💻\x1b[1;3H new" in output


def test_after_forgetting_everything_is_written() -> None:
    terminals = shown("one", "two")
    terminals.diff.forget()
    terminals.show(full([strip("one", 40), strip("two", 40)], 40))
    assert terminals.written > 80


def test_a_wide_character_that_no_longer_fits_after_control_characters_is_left_out() -> None:
    diff = FrameDiff()
    output = diff.encode(full([Strip([Segment("\x1b\x07ab日本")], 6)], 6), 6, 1, CONSOLE)
    assert output == "\x1b[1;1H␛␇ab日"


def test_cells_that_no_update_has_drawn_yet_are_left_alone() -> None:
    diff = FrameDiff()
    output = diff.encode(ChopsUpdate([{5: strip("🧑‍💻 x", 5)}], [(0, 5, 10)], [[10]]), 20, 1, CONSOLE)
    screen = pyte.Screen(20, 1)
    stream = pyte.Stream(screen)
    stream.feed(f"abcdefghijklmnopqrst{output}")
    assert screen.display[0].startswith("abcde")
    assert screen.display[0].endswith("klmnopqrst")


def test_control_characters_are_written_as_signs() -> None:
    terminals = shown("one")
    output = terminals.diff.encode(full([strip("a\x1b[31mb\x07", 40)], 40), 40, 1, CONSOLE)
    assert "a␛[31mb␇" in output
