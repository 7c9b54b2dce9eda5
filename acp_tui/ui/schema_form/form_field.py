"""One field of the form: its label, hint and description, the editor, and the problem with the entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static, TextArea

from acp_tui.schema_form.hints import asks_for_secret, expectation
from acp_tui.session.text.invisible import reveal, reveal_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.schema_form.choice_editor import ChoiceList, ChoicePicker, EntryChanged, choice_editor
from acp_tui.ui.schema_form.text_editor import SecretLine, TextEditor

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.schema_form.fields import Field
    from acp_tui.schema_form.values import Entry
    from acp_tui.ui.theme.palette import Palette

    Editor = TextEditor | SecretLine | ChoiceList | ChoicePicker

MAX_LABEL_WIDTH = 60
MAX_DESCRIPTION = 600
"""The maximum number of characters of a description. The view of the schema shows the full text."""
MIN_MULTILINE_LENGTH = 100
"""A text field whose `maxLength` is lower has only one line."""


class FormField(Vertical):
    """A form field. `FieldsPage` checks the value when the user changes it, and before the form is sent."""

    DEFAULT_CSS = """
    FormField { height: auto; }
    FormField .about { height: auto; }
    FormField TextEditor {
        height: auto; max-height: 8; padding: 0 0 0 1; background: $panel; scrollbar-size-vertical: 1;
    }
    FormField InputLine { height: 1; border: none; padding: 0 0 0 1; background: $panel; }
    FormField SelectList { max-height: 8; }
    FormField ChoicePicker { height: 1; padding-left: 2; }
    FormField .editor { border-left: outer $foreground 30% !important; }
    FormField .editor:focus { border-left: outer $primary !important; }
    FormField .problem { height: 1; }
    """

    class Changed(Message):
        """The user changed the entry of a field."""

        def __init__(self, field: FormField) -> None:
            super().__init__()
            self.field = field

    def __init__(self, field: Field, entry: Entry, palette: Palette, *, warn_of_secrets: bool) -> None:
        super().__init__()
        self.field = field
        self._palette = palette
        self._warns = warn_of_secrets and asks_for_secret(field)
        self._problem = ""
        self._last_entry = entry
        self.has_changed = False
        """Whether the user changed the entry."""
        self.editor = self._make_editor(entry)
        """The widget that takes the focus."""
        self.editor.add_class("editor")

    def _make_editor(self, entry: Entry) -> Editor:
        field, limits = self.field, self.field.limits
        if not isinstance(entry, str):
            return choice_editor(field, entry, self._palette)
        if limits.format == "password":
            return SecretLine(entry)
        is_prose = field.kind == "text" and not limits.format and not limits.pattern
        is_long = limits.max_length is None or limits.max_length >= MIN_MULTILINE_LENGTH
        return TextEditor(entry, multiline=field.kind in ("list", "json") or (is_prose and is_long))

    def compose(self) -> ComposeResult:
        yield Static(self._about(), classes="about", markup=False)
        yield self.editor
        yield Static("", classes="problem", markup=False)

    # ------------------------------------------------------------------------- what is shown

    def _about(self) -> Text:
        field, palette = self.field, self._palette
        text = Text()
        text.append(shorten(reveal_line(field.label[: 2 * MAX_LABEL_WIDTH]), MAX_LABEL_WIDTH), palette.strong)
        if field.required:
            text.append(" *", palette.warning)
        if expected := expectation(field):
            text.append(f"  {expected}", palette.dim)
        if field.description.strip():
            shown = reveal(field.description[:MAX_DESCRIPTION].strip())
            cut = "…" if len(field.description) > MAX_DESCRIPTION else ""
            text.append(f"\n{' '.join(shown.split())}{cut}", palette.dim)
        if self._warns:
            warning = "! Seems to ask for a secret, which forms must not do. Decline if in doubt."
            text.append(f"\n{warning}", palette.warning)
        return text

    def show_problem(self, problem: str) -> None:
        """Show a problem with the entry; "" removes it."""
        if problem != self._problem:
            self._problem = problem
            self._update_problem()

    def on_resize(self) -> None:
        """Shorten the problem to the new width."""
        self._update_problem()

    def _update_problem(self) -> None:
        self.query_one(".problem", Static).update(self._problem_text(), layout=False)

    def _problem_text(self) -> Text:
        if not self._problem:
            return Text("")
        width = max(20, self.size.width - 2)
        return Text(f"✘ {shorten(reveal_line(self._problem), width)}", self._palette.error)

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        self._palette = palette
        self.query_one(".about", Static).update(self._about())
        self._update_problem()
        if isinstance(self.editor, ChoiceList | ChoicePicker):
            self.editor.use_palette(palette)

    # ------------------------------------------------------------------------- the entry

    @property
    def entry(self) -> Entry:
        """What the user entered."""
        if isinstance(self.editor, TextEditor):
            return self.editor.text
        return self.editor.value if isinstance(self.editor, SecretLine) else self.editor.chosen

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._entry_changed()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._entry_changed()

    def on_entry_changed(self, event: EntryChanged) -> None:
        event.stop()
        self._entry_changed()

    def _entry_changed(self) -> None:
        if self.entry != self._last_entry:  # an input also reports its initial text
            self._last_entry = self.entry
            self.has_changed = True
            self.post_message(self.Changed(self))
