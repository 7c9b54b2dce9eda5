"""The text fields of the form: an area that grows with its text, an area for JSON, and a masked line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.actions import SkipAction
from textual.widgets import TextArea

from acp_tui.session.text.safe_text import strip_controls
from acp_tui.ui.keys import bindings
from acp_tui.ui.schema_form.key_order import handle_key
from acp_tui.ui.theme.syntax import MAX_LINE_CHARS, highlight
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from rich.text import Text
    from textual import events
    from textual.binding import BindingType

    from acp_tui.ui.theme.palette import Palette


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

    def __init__(self, text: str, palette: Palette) -> None:
        self._palette = palette
        super().__init__(text, multiline=True)

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

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        self._palette = palette
        self.refresh()

    def get_line(self, line_index: int) -> Text:
        """Return a line, highlighted without regard to other lines: no JSON token spans several lines.

        A line of more than `MAX_LINE_CHARS` characters is not highlighted.
        """
        line = super().get_line(line_index)
        if len(line.plain) <= MAX_LINE_CHARS:
            at = 0
            for text, style, _ in highlight(line.plain, "json", self._palette)[0]:
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
