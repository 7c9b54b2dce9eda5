"""The editors of fields: text, numbers, and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.actions import SkipAction
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from acp_tui.session.safe_text import escape_invisible_line, strip_controls
from acp_tui.ui import keys
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings
from acp_tui.ui.keys.key_sequencer import forward_typeahead
from acp_tui.ui.terminal.textual_keys import run_binding
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.theme.syntax import MAX_LINE_CHARS, highlight
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, draw_row

if TYPE_CHECKING:
    from rich.text import Text
    from textual import events
    from textual.binding import BindingType
    from textual.strip import Strip

    from acp_tui.schema_form.fields import Field, FieldChoice


MAX_ROWS = 8
"""The maximum height of a list of choices. A single-choice field with more choices opens a dialog instead."""
MAX_TITLE_WIDTH = 200
"""The maximum width of a choice's title, and of a choice's description."""


async def handle_key(widget: Widget, event: events.Key, *, inserts_text: bool) -> None:
    """Run the binding of a key now.

    If the focus has moved since the key was pressed, forward the key to the focused widget instead.

    Textual runs bindings only after the key has passed the message queues of all parents. Characters typed in
    the meantime would overtake the key. If `inserts_text` is true, characters are left to the widget.
    """
    if forward_typeahead(widget, event) or (inserts_text and event.is_printable):
        return
    event.prevent_default()
    event.stop()
    await run_binding(widget.app, event.key)


class TextEditor(TextArea, inherit_bindings=False):
    """A text area for the value of one field. The dialog handles Enter, Up and Down."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("edit")

    def __init__(self, text: str, *, multiline: bool) -> None:
        """If `multiline` is false, line breaks become spaces."""
        self._multiline = multiline
        super().__init__(self._allowed(text), highlight_cursor_line=False, compact=True)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.move_cursor(self.document.end)

    def _allowed(self, text: str) -> str:
        text = strip_controls(text)
        return text if self._multiline else " ".join(text.split("\n"))

    async def on_key(self, event: events.Key) -> None:
        """Insert a character, or run the binding of the key. Enter is left to the dialog."""
        await handle_key(self, event, inserts_text=True)

    async def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text without control characters."""
        event.stop()
        event.prevent_default()
        self._insert(event.text)

    def action_paste(self) -> None:
        """Insert the text that was last copied in acp-tui."""
        self._insert(self.app.clipboard)

    def action_copy(self) -> None:
        """Copy the selection; without one, leave the key to the dialog."""
        if not self.selected_text:
            raise SkipAction
        super().action_copy()

    def newline(self) -> bool:
        """Insert a line break. Return False if the text is limited to one line."""
        if self._multiline:
            self._insert("\n")
        return self._multiline

    def _insert(self, text: str) -> None:
        self.replace(self._allowed(text), *self.selection, maintain_selection_offset=False)

    def move_rows(self, step: int) -> bool:
        """Move the cursor a row up (-1) or down (1). Return False if there is no such row."""
        location = self.cursor_location
        at_end = self.navigator.is_first_wrapped_line if step < 0 else self.navigator.is_last_wrapped_line
        if at_end(location):
            return False
        if step < 0:
            self.action_cursor_up()
        else:
            self.action_cursor_down()
        return True


class JsonEditor(TextEditor):
    """A text area for JSON, with highlighting. Enter starts a new line."""

    async def on_key(self, event: events.Key) -> None:
        """Insert a line break for Enter; handle other keys as in the other text areas of the form."""
        if event.key == "enter" and self.has_focus:
            event.prevent_default()
            event.stop()
            self._insert(f"\n{self._indentation()}")
        else:
            await super().on_key(event)

    def _indentation(self) -> str:
        row, column = self.selection.start
        line = self.document[row][:column]
        return line[: len(line) - len(line.lstrip(" "))]

    def get_line(self, line_index: int) -> Text:
        """Return a line, highlighted without regard to other lines: no JSON token spans several lines.

        A line of more than `MAX_LINE_CHARS` characters is not highlighted.
        """
        line = super().get_line(line_index)
        if len(line.plain) <= MAX_LINE_CHARS:
            at = 0
            for text, style, _ in highlight(line.plain, "json", current_palette().syntax)[0]:
                if style:
                    line.stylize(style, at, at + len(text))
                at += len(text)
        return line


class SecretLine(InputLine):
    """A one-line input whose text is masked."""

    def __init__(self, text: str) -> None:
        super().__init__(select_on_focus=False)
        self.password = True
        self.value = text

    async def on_key(self, event: events.Key) -> None:
        """Insert a character, or run the binding of the key."""
        await handle_key(self, event, inserts_text=True)


class EntryChanged(Message):
    """The user changed which values are chosen."""


def _line(text: str) -> str:
    """Make text safe to display on one line. To save time, cut long text first."""
    return shorten(escape_invisible_line(text[: 2 * MAX_TITLE_WIDTH]), MAX_TITLE_WIDTH)


class ChoiceList(SelectList, can_focus=True, inherit_bindings=False):
    """All choices of a field. The chosen ones are marked."""

    BINDINGS: ClassVar = keys.bindings("form_choice")

    def __init__(self, field: Field, chosen: tuple[int, ...]) -> None:
        self._field = field
        self.chosen = chosen
        """The indexes of the chosen values, in ascending order."""
        self._cursor = (
            chosen[0] if chosen else 0
        )  # the row that keys act on; `selected` is the same row, or -1 without focus
        super().__init__(self._choice_rows(), selected=-1)

    def _choice_rows(self) -> list[SelectRow]:
        return [
            self._choice_row(choice, chosen=index in self.chosen)
            for index, choice in enumerate(self._field.choices)
        ]

    def _choice_row(self, choice: FieldChoice, *, chosen: bool) -> SelectRow:
        palette = current_palette()
        marks = ("[x] ", "[ ] ") if self._field.kind == "choices" else ("● ", "○ ")
        mark = Segment(marks[0], palette.success) if chosen else Segment(marks[1], palette.dim)
        text = [Segment(_line(choice.title), palette.text)]
        if choice.description:
            text.append(Segment(f"  {_line(choice.description)}", palette.dim))
        return SelectRow([mark], text, cut=True)

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
        self._show_rows()
        self.post_message(EntryChanged())

    def _show_rows(self) -> None:
        selected = self.selected
        self.show(self._choice_rows(), selected)
        self.selected = selected

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._show_rows()


class ChoicePicker(Widget, can_focus=True):
    """A row with the chosen value. The key `form.choose` opens a dialog with all values and a filter."""

    BINDINGS: ClassVar = keys.bindings("form_choice")

    def __init__(self, field: Field, chosen: tuple[int, ...]) -> None:
        super().__init__()
        self._field = field
        self.chosen = chosen
        """The index of the chosen value, in a tuple; empty if no value is chosen."""

    def render_line(self, _: int) -> Strip:
        return draw_row(self._spans(), self.size.width, self.rich_style)

    def _spans(self) -> Spans:
        palette = current_palette()
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
        from acp_tui.ui.dialogs.choose import ChooseScreen

        rows = [
            Choice(str(index), _line(choice.title), _line(choice.description) or None)
            for index, choice in enumerate(self._field.choices)
        ]
        if self.chosen and not self._field.required:
            rows.insert(0, Choice("", "(none)"))
        title = shorten(_line(self._field.label), 60)
        current = str(self.chosen[0]) if self.chosen else None
        self.app.push_screen(ChooseScreen(title, rows, current=current), self._choose)

    def _choose(self, value: str | None) -> None:
        if value is not None:
            self.chosen = (int(value),) if value else ()
            self.refresh()
            self.post_message(EntryChanged())


def choice_editor(field: Field, chosen: tuple[int, ...]) -> ChoiceList | ChoicePicker:
    """Return the widget for a field with choices."""
    if field.kind == "choice" and len(field.choices) > MAX_ROWS:
        return ChoicePicker(field, chosen)
    return ChoiceList(field, chosen)
