"""A short list to choose from, shown while the cursor stays in the line that is being typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.drawing.wrap import shorten, shorten_path, wrap
from acp_tui.ui.theme.component_style import foreground_style, highlight_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events

    from acp_tui.ui.drawing.body import Spans

MAX_ROWS = 8
"""Never more are shown at once."""
DETAIL_ROWS = 3
"""… and below them for the whole description of the one at the mark, where rows cut any."""
MIN_ROWS = 5
"""Lines for choices before any for that."""
EDGE = 3
"""Cells before a name, and between it and the description."""
NAME_SHARE = 0.45
"""Of the width, for names and hints; the rest is for descriptions."""


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """One line of the list. All texts are data, already safe to display, on one line."""

    name: str
    hint: str = ""
    description: str = ""
    matched: frozenset[int] = frozenset()  # places in the name that the search hit
    off: bool = False  # it cannot be taken; the description says why
    is_path: bool = False  # its end matters most


class CompletionList(Widget):
    """The list. It never has the focus; whoever has it moves the mark."""

    DEFAULT_CSS = """
    CompletionList {
        height: auto;
        width: 1fr;
        background: $surface;
        color: $foreground;
        & > .choices--hint { color: $text-muted; }
        & > .choices--description { color: $text-muted; }
        & > .choices--off { color: $text-disabled; }
        & > .choices--matched { color: $text-accent; text-style: bold underline; }
        & > .choices--current {
            background: $selected-background; color: $selected-foreground; text-style: bold;
        }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "choices--hint",
        "choices--description",
        "choices--off",
        "choices--matched",
        "choices--current",
    }

    class Clicked(Message):
        """A line was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__()
        self._choices: Sequence[CompletionItem] = ()
        self._first = 0
        self._names = 0  # cells
        self._described = False
        self.current = 0
        self.rows = 0
        """How many choices are shown."""
        self.details = 0
        """Lines below them for the whole description of the one at the mark."""

    def show(
        self, choices: Sequence[CompletionItem], current: int = 0, room: int = MAX_ROWS + DETAIL_ROWS
    ) -> None:
        """Show other choices, with the mark at one of them, in at most so many lines."""
        height = self.height
        self._choices = choices
        self._names = max((_name_width(choice) for choice in choices), default=0)
        self._described = any(choice.hint or choice.description for choice in choices)
        self.details = min(self._details_wanted(), max(0, room - MIN_ROWS))
        self.rows = max(1, min(MAX_ROWS, len(choices), room - self.details)) if choices else 0
        self._first = 0
        self._mark(current)
        self.refresh(layout=self.height != height)

    @property
    def height(self) -> int:
        """Lines in all."""
        return self.rows + self.details

    def move(self, step: int) -> None:
        """Move the mark; it goes round."""
        if self._choices:
            self._mark((self.current + step) % len(self._choices))
            self.refresh()

    def _mark(self, current: int) -> None:
        self.current = current
        self._first = max(current - self.rows + 1, min(self._first, current))

    def get_content_height(self, *_: object) -> int:
        """As many lines as are shown."""
        return self.height

    def _details_wanted(self) -> int:
        """Lines for a description that is cut in its row: the same number whichever row the mark is at."""
        width = self.app.size.width
        room = self._description_room(width)
        cut = [choice for choice in self._choices if cell_len(choice.description) > room]
        return max((len(self._detail(choice, width)) for choice in cut), default=0)

    def _detail(self, choice: CompletionItem, width: int) -> list[Spans]:
        text = shorten(choice.description, DETAIL_ROWS * max(8, width - 2 * EDGE - 8))
        return wrap([Segment(text)], max(8, width - 2 * EDGE)) if text else []

    def _column(self, width: int) -> int:
        room = width - EDGE
        return min(self._names, int(room * NAME_SHARE) if self._described else room)

    def _description_room(self, width: int) -> int:
        return width - EDGE - self._column(width) - EDGE

    def render_line(self, y: int) -> Strip:
        """One line."""
        if y >= self.rows:
            return self._detail_line(y - self.rows)
        index = self._first + y
        if index >= len(self._choices):
            return Strip.blank(self.size.width, self.rich_style)
        current = index == self.current
        strip = Strip(self._segments(self._choices[index], "❯" if current else " "))
        strip = strip.crop_extend(0, self.size.width, None)
        if current:
            return highlight_row(strip, self.get_component_rich_style("choices--current"))
        return strip.apply_style(self.rich_style)

    def _detail_line(self, row: int) -> Strip:
        """A line of the description of the choice at the mark, which may be cut in its row."""
        width = self.size.width
        chosen = self._choices[self.current] if self.current < len(self._choices) else CompletionItem("")
        cut = cell_len(chosen.description) > self._description_room(width)
        lines = self._detail(chosen, width) if cut else []
        line = lines[row] if row < len(lines) else []
        dim = foreground_style(self, "choices--description")
        spans = [Segment(" " * EDGE), *(Segment(span.text, dim) for span in line)]
        return Strip(spans).crop_extend(0, width, None).apply_style(self.rich_style)

    def _segments(self, choice: CompletionItem, mark: str) -> list[Segment]:
        column = self._column(self.size.width)
        name, places = _fitted(choice, column)
        matched = foreground_style(self, "choices--matched")
        segments = [Segment(f" {mark} "), *_marked(name, places, matched)]
        if choice.off:
            off = foreground_style(self, "choices--off")
            segments = [Segment(segment.text, off) for segment in segments]
        left = column - cell_len(name)
        if choice.hint:
            hint = shorten(f" {choice.hint}", left)
            segments.append(Segment(hint, foreground_style(self, "choices--hint")))
            left -= cell_len(hint)
        if choice.description:
            description = shorten(choice.description, self._description_room(self.size.width))
            dim = foreground_style(self, "choices--description")
            segments.append(Segment(" " * (left + 2) + description, dim))
        return segments

    def on_click(self, event: events.Click) -> None:
        """Say which line it was."""
        index = self._first + event.y
        if index < len(self._choices):
            self.post_message(self.Clicked(index))


def _name_width(choice: CompletionItem) -> int:
    return cell_len(choice.name) + (cell_len(choice.hint) + 1 if choice.hint else 0)


def _fitted(choice: CompletionItem, width: int) -> tuple[str, frozenset[int]]:
    """The name in so many cells, and where it was hit now."""
    if not choice.is_path:
        return shorten(choice.name, width), choice.matched
    name = shorten_path(choice.name, width)
    lost = len(choice.name) - len(name)
    return name, frozenset(
        place - lost for place in choice.matched if place > lost
    ) if lost else choice.matched


def _marked(text: str, places: frozenset[int], style: Style) -> list[Segment]:
    """The text, with some of its characters in another style."""
    if not places:
        return [Segment(text)]
    return [Segment(char, style if place in places else None) for place, char in enumerate(text)]
