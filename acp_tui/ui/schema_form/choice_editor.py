"""The editors of fields with choices: a list with marks or, for many choices, a row that opens a dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.message import Message
from textual.widget import Widget

from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.schema_form.key_order import handle_key
from acp_tui.ui.widgets.list_row import draw_row
from acp_tui.ui.widgets.select_list import Row, SelectList

if TYPE_CHECKING:
    from textual import events
    from textual.strip import Strip

    from acp_tui.schema_form.fields import Field, FieldChoice
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

MAX_ROWS = 8
"""The maximum height of a list of choices. A single-choice field with more choices opens a dialog instead."""
MAX_TITLE_WIDTH = 200
"""The maximum width of a choice's title, and of a choice's description."""


class EntryChanged(Message):
    """The user changed which values are chosen."""


def _line(text: str) -> str:
    """Make a text safe to display on one line. To save time, cut a long text first."""
    return shorten(reveal_line(text[: 2 * MAX_TITLE_WIDTH]), MAX_TITLE_WIDTH)


class ChoiceList(SelectList, can_focus=True, inherit_bindings=False):
    """All choices of a field. The chosen ones are marked."""

    BINDINGS: ClassVar = keys.bindings("form_choice")

    def __init__(self, field: Field, chosen: tuple[int, ...], palette: Palette) -> None:
        self._field = field
        self.chosen = chosen
        """The indexes of the chosen values, in ascending order."""
        self._cursor = (
            chosen[0] if chosen else 0
        )  # the row that keys act on; `selected` is the same row, or -1 without focus
        super().__init__(self._choice_rows(palette), palette, selected=-1)

    def _choice_rows(self, palette: Palette) -> list[Row]:
        return [
            self._choice_row(choice, palette, chosen=index in self.chosen)
            for index, choice in enumerate(self._field.choices)
        ]

    def _choice_row(self, choice: FieldChoice, palette: Palette, *, chosen: bool) -> Row:
        marks = ("[x] ", "[ ] ") if self._field.kind == "choices" else ("● ", "○ ")
        mark = Segment(marks[0], palette.success) if chosen else Segment(marks[1], palette.dim)
        text = [Segment(_line(choice.title), palette.text)]
        if choice.description:
            text.append(Segment(f"  {_line(choice.description)}", palette.dim))
        return Row([mark], text, cut=True)

    async def on_key(self, event: events.Key) -> None:
        """Run the binding of the key."""
        await handle_key(self, event, inserts_text=False)

    def on_focus(self) -> None:
        """Show which row the keys act on."""
        self.selected = self._cursor

    def on_blur(self) -> None:
        """Show no row as selected."""
        self.selected = -1

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Choose the clicked row; if it is already chosen, undo the choice."""
        event.stop()
        self._move_to(event.index)
        self.focus()
        self.action_choose()

    def move_rows(self, step: int) -> bool:
        """Move to the previous (-1) or next (1) row. Return False if there is none."""
        target = self._cursor + step
        if not 0 <= target < len(self._field.choices):
            return False
        self._move_to(target)
        return True

    def _move_to(self, index: int) -> None:
        self._cursor = index
        self.selected = index

    def action_choose(self) -> None:
        """Choose the row under the cursor; if it is already chosen, undo the choice."""
        index = self._cursor
        if index in self.chosen:
            self._choose(tuple(other for other in self.chosen if other != index))
        elif self._field.kind == "choices":
            self._choose(tuple(sorted((*self.chosen, index))))
        else:
            self._choose((index,))

    def take_current(self) -> None:
        """Choose the row under the cursor if the field takes only one value."""
        if self._field.kind == "choice" and self._cursor not in self.chosen:
            self._choose((self._cursor,))

    def _choose(self, chosen: tuple[int, ...]) -> None:
        self.chosen = chosen
        self.use_palette(self._palette)
        self.post_message(EntryChanged())

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        super().use_palette(palette)
        selected = self.selected
        self.show(self._choice_rows(palette), selected)
        self.selected = selected


class ChoicePicker(Widget, can_focus=True):
    """A row with the chosen value. The key `form.choose` opens a dialog with all values and a filter."""

    BINDINGS: ClassVar = keys.bindings("form_choice")

    def __init__(self, field: Field, chosen: tuple[int, ...], palette: Palette) -> None:
        super().__init__()
        self._field = field
        self._palette = palette
        self.chosen = chosen
        """The index of the chosen value, in a tuple; empty if no value is chosen."""

    def render_line(self, _: int) -> Strip:
        return draw_row(self._spans(), self.size.width, self.rich_style)

    def _spans(self) -> Spans:
        palette = self._palette
        key = keys.bound_keys(self, "form.choose")
        hint = Segment(f"  {key} lists all {len(self._field.choices):,} values", palette.dim)
        if not self.chosen:
            return [Segment("○ ", palette.dim), Segment("nothing chosen", palette.dim), hint]
        title = _line(self._field.choices[self.chosen[0]].title)
        return [Segment("● ", palette.success), Segment(shorten(title, 40), palette.text), hint]

    async def on_key(self, event: events.Key) -> None:
        """Run the binding of the key."""
        await handle_key(self, event, inserts_text=False)

    def on_click(self) -> None:
        """Open the dialog with all values."""
        self.action_choose()

    def action_choose(self) -> None:
        """Open the dialog with all values, and with "(none)" if the field is optional and has a value."""
        from acp_tui.session.state import Choice
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        rows = [
            Choice(str(index), _line(choice.title), _line(choice.description) or None)
            for index, choice in enumerate(self._field.choices)
        ]
        if self.chosen and not self._field.required:
            rows.insert(0, Choice("", "(none)"))
        title = shorten(_line(self._field.label), 60)
        current = str(self.chosen[0]) if self.chosen else None
        self.app.push_screen(ChooseScreen(title, rows, self._palette, current=current), self._choose)

    def _choose(self, value: str | None) -> None:
        if value is not None:
            self.chosen = (int(value),) if value else ()
            self.refresh()
            self.post_message(EntryChanged())

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        self._palette = palette
        self.refresh()


def choice_editor(field: Field, chosen: tuple[int, ...], palette: Palette) -> ChoiceList | ChoicePicker:
    """Return the widget for a field with choices."""
    if field.kind == "choice" and len(field.choices) > MAX_ROWS:
        return ChoicePicker(field, chosen, palette)
    return ChoiceList(field, chosen, palette)
