"""A short list of completions. While the list is open, the focus stays in the text being typed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.drawing.wrap import shorten, shorten_path, wrap
from acp_tui.ui.theme.palette import Spans, foreground_style
from acp_tui.ui.widgets.select_list import SELECTED_SIGN, draw_row, first_visible_row

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events
    from textual.app import ComposeResult
    from textual.widgets.text_area import Location


MAX_ROWS = 8
"""Maximum number of items that are visible at once."""
DETAIL_ROWS = 3
"""Maximum lines below the items for the full description of the selected one."""
MIN_ROWS = 5
"""The number of lines reserved for items. The full description gets only lines beyond these."""
GAP_CELLS = 3
"""Cells before a name, and between a name and its description."""
NAME_SHARE = 0.45
"""Maximum share of the width for names and hints; the rest is for descriptions."""


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """A line of the list. All texts are safe to display and have no line breaks."""

    name: str
    hint: str = ""
    description: str = ""
    matched: frozenset[int] = frozenset()  # indexes of matched characters in the name
    disabled: bool = False  # cannot be chosen; the description says why
    is_path: bool = False  # if it is too long, its start is cut


class CompletionList(Widget):
    """Shows completions. The list never has the focus; other widgets call `move`."""

    DEFAULT_CSS = """
    CompletionList {
        height: auto;
        width: 1fr;
        background: $surface;
        color: $foreground;
        & > .choices--hint { color: $text-muted; }
        & > .choices--description { color: $text-muted; }
        & > .choices--disabled { color: $text-disabled; }
        & > .choices--matched { color: $text-accent; text-style: bold underline; }
        & > .choices--current {
            background: $selected-background; color: $selected-foreground; text-style: bold;
        }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "choices--hint",
        "choices--description",
        "choices--disabled",
        "choices--matched",
        "choices--current",
    }

    class Clicked(Message):
        """The user clicked an item."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__()
        self._choices: Sequence[CompletionItem] = ()
        self._first = 0
        self._name_cells = 0  # width of the longest name
        self._has_descriptions = False
        self.current = 0
        self.rows = 0
        """Number of visible items."""
        self.details = 0
        """Number of lines below the items for a full description."""

    def show(
        self, choices: Sequence[CompletionItem], current: int = 0, room: int = MAX_ROWS + DETAIL_ROWS
    ) -> None:
        """Replace the items and select one; `room` is the maximum height in lines."""
        height = self.height
        self._choices = choices
        self._name_cells = max((_name_width(choice) for choice in choices), default=0)
        self._has_descriptions = any(choice.hint or choice.description for choice in choices)
        self.details = min(self._max_detail_lines(), max(0, room - MIN_ROWS))
        self.rows = max(1, min(MAX_ROWS, len(choices), room - self.details)) if choices else 0
        self._first = 0
        self._select(current)
        self.refresh(layout=self.height != height)

    @property
    def height(self) -> int:
        """The height in lines."""
        return self.rows + self.details

    def move(self, step: int) -> None:
        """Move the selection; wraps around at the ends."""
        if self._choices:
            self._select((self.current + step) % len(self._choices))
            self.refresh()

    def _select(self, current: int) -> None:
        self.current = current
        self._first = first_visible_row(self._first, current, self.rows, len(self._choices))

    def get_content_height(self, *_: object) -> int:
        return self.height

    def _max_detail_lines(self) -> int:
        """Return the height of the longest description, in lines; 0 if all descriptions fit in their rows."""
        width = self.app.size.width
        room = self._description_room(width)
        shortened = [choice for choice in self._choices if cell_len(choice.description) > room]
        return max((len(self._detail(choice, width)) for choice in shortened), default=0)

    def _detail(self, choice: CompletionItem, width: int) -> list[Spans]:
        text = shorten(choice.description, DETAIL_ROWS * max(8, width - 2 * GAP_CELLS - 8))
        return wrap([Segment(text)], max(8, width - 2 * GAP_CELLS)) if text else []

    def _column(self, width: int) -> int:
        room = width - GAP_CELLS
        return min(self._name_cells, int(room * NAME_SHARE) if self._has_descriptions else room)

    def _description_room(self, width: int) -> int:
        return width - GAP_CELLS - self._column(width) - GAP_CELLS

    def render_line(self, y: int) -> Strip:
        if y >= self.rows:
            return self._detail_line(y - self.rows)
        index = self._first + y
        if index >= len(self._choices):
            return Strip.blank(self.size.width, self.rich_style)
        current = index == self.current
        segments = self._segments(self._choices[index], SELECTED_SIGN if current else " ")
        selected = self.get_component_rich_style("choices--current") if current else None
        return draw_row(segments, self.size.width, self.rich_style, selected)

    def _detail_line(self, row: int) -> Strip:
        """Draw line `row` of the area below the items: a line of the selected item's description.

        The description is cut if it is very long. The line is blank after the end of the description, or if
        the item itself shows the full description.
        """
        width = self.size.width
        chosen = self._choices[self.current] if self.current < len(self._choices) else CompletionItem("")
        is_shortened = cell_len(chosen.description) > self._description_room(width)
        lines = self._detail(chosen, width) if is_shortened else []
        line = lines[row] if row < len(lines) else []
        dim = foreground_style(self, "choices--description")
        spans = [Segment(" " * GAP_CELLS), *(Segment(span.text, dim) for span in line)]
        return draw_row(spans, width, self.rich_style)

    def _segments(self, choice: CompletionItem, mark: str) -> list[Segment]:
        column = self._column(self.size.width)
        name, matched = _fit_name(choice, column)
        match_style = foreground_style(self, "choices--matched")
        segments = [Segment(f" {mark} "), *_highlight(name, matched, match_style)]
        if choice.disabled:
            disabled_style = foreground_style(self, "choices--disabled")
            segments = [Segment(segment.text, disabled_style) for segment in segments]
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
        """Post a message with the clicked item."""
        index = self._first + event.y
        if event.y < self.rows and index < len(self._choices):
            self.post_message(self.Clicked(index))


def _name_width(choice: CompletionItem) -> int:
    return cell_len(choice.name) + (cell_len(choice.hint) + 1 if choice.hint else 0)


def _fit_name(choice: CompletionItem, width: int) -> tuple[str, frozenset[int]]:
    """Return the name shortened to a width, and the indexes of its matched characters."""
    if not choice.is_path:
        return shorten(choice.name, width), choice.matched
    name = shorten_path(choice.name, width)
    removed = len(choice.name) - len(name)
    if not removed:
        return name, choice.matched
    return name, frozenset(index - removed for index in choice.matched if index > removed)


def _highlight(text: str, indexes: frozenset[int], style: Style) -> list[Segment]:
    """Return the text with the matched characters highlighted."""
    if not indexes:
        return [Segment(text)]
    return [Segment(char, style if index in indexes else None) for index, char in enumerate(text)]


BORDER_ROWS = 1


class Popup(Vertical):
    """Base class of popups that show a list of items above the prompt."""

    DEFAULT_CSS = """
    Popup {
        overlay: screen;
        display: none;
        height: auto;
        width: 100%;
        background: $surface;
        border-top: solid $primary;
        border-title-color: $text-accent;
    }
    """
    EXTRA_ROWS = 0
    """Number of lines of the popup besides those of the list and the borders."""
    TITLE = ""
    """What the items are, such as "files", for the title in the border."""

    def compose(self) -> ComposeResult:
        yield CompletionList()

    @property
    def choices(self) -> CompletionList:
        """The list of the popup."""
        return self.query_one(CompletionList)

    @property
    def is_open(self) -> bool:
        """True while the popup is visible."""
        return self.display

    def show(self, choices: Sequence[CompletionItem], current: int = 0) -> None:
        """Open the popup, or replace its items."""
        above = self.parent.region.y if isinstance(self.parent, Widget) else MAX_ROWS
        self.choices.show(choices, current, max(1, above - BORDER_ROWS - self.EXTRA_ROWS))
        count = f" · {len(choices):,}" if len(choices) > self.choices.rows else ""
        self.border_title = f" {self.TITLE}{count if choices else ': nothing found'} "
        height = self.choices.height + self.EXTRA_ROWS + BORDER_ROWS
        if self.styles.offset.y.value != -(height + BORDER_ROWS):
            self.styles.offset = (0, -(height + BORDER_ROWS))  # also above the border of the prompt
        if not self.display:
            self.display = True
            self.screen.refresh_bindings()

    def close(self) -> None:
        if self.display:
            self.display = False
            self.screen.refresh_bindings()


class Completion(NamedTuple):
    """Text that replaces the text between `start` and the cursor."""

    start: Location
    text: str


class Menu(Popup):
    """A popup that offers completions of the typed text. The menu keys act on the popup while it is open."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """True if the typed text needs no completion, such as when the selected item is typed in full."""

    @abstractmethod
    def completion(self, *, final: bool) -> Completion | None:
        """Return the completion for the selected item, followed by a space.

        If `final` is false, a folder gets no space, so that the user can complete the path further. Return
        None if no item is selected, or if the selected item cannot be attached.
        """

    @abstractmethod
    def dismiss(self) -> None:
        """Close the menu until the user starts another word that the menu can complete."""

    def move(self, step: int) -> None:
        """Select another item, `step` positions away."""
        self.choices.move(step)
