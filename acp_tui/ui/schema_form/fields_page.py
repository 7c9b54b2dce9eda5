"""The page with the fields of the form, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.containers import Vertical

from acp_tui.cpu_limit import pattern_found
from acp_tui.schema_form.values import EntryError, read_value, read_values
from acp_tui.ui.schema_form.choice_editor import ChoiceList
from acp_tui.ui.schema_form.form_field import FormField
from acp_tui.ui.schema_form.text_editor import TextEditor
from acp_tui.ui.terminal.input.textual_keys import move_queued_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult

    from acp_tui.schema_form.answer import SchemaFault
    from acp_tui.schema_form.fields import Form
    from acp_tui.schema_form.values import Entry
    from acp_tui.ui.theme.palette import Palette

    Validate = Callable[[object], Sequence[SchemaFault]]
    """Returns what is wrong with a whole object, the most important fault first."""


class FieldsPage(Vertical):
    """A column of fields. A problem with one field is shown below the field.

    Other problems are shown with `show_problem`.
    """

    DEFAULT_CSS = "FieldsPage { height: auto; }"

    def __init__(
        self,
        form: Form,
        entries: Mapping[str, Entry],
        palette: Palette,
        *,
        validate: Validate,
        show_problem: Callable[[str], None],
        warn_of_secrets: bool,
    ) -> None:
        super().__init__()
        self._form = form
        self._validate = validate
        self._show_problem = show_problem
        self._fields = [
            FormField(field, entries[field.name], palette, warn_of_secrets=warn_of_secrets)
            for field in form.fields
        ]

    def compose(self) -> ComposeResult:
        yield from self._fields

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        for field in self._fields:
            field.use_palette(palette)

    # ------------------------------------------------------------------------- focus

    @property
    def _current(self) -> int | None:
        """The index of the field that has the focus."""
        focused = self.screen.focused
        return next((at for at, field in enumerate(self._fields) if field.editor is focused), None)

    @property
    def is_at_end(self) -> bool:
        """True if the last field or no field has the focus."""
        return self._current in (None, len(self._fields) - 1)

    def take_focus(self) -> None:
        """Focus the first field without scrolling, so that the text above the fields stays in view."""
        if self._fields:
            self.screen.set_focus(self._fields[0].editor, scroll_visible=False)

    def move(self, step: int) -> None:
        """Go to the next (1) or previous (-1) field, wrapping around at the ends."""
        if self._fields:
            current = self._current
            at = 0 if current is None else (current + step) % len(self._fields)
            self._focus(self._fields[at])

    def move_rows(self, step: int) -> None:
        """Move a row down (1) or up (-1), within a field or to the neighbouring field."""
        current = self._current
        if current is None:
            return
        editor = self._fields[current].editor
        if isinstance(editor, TextEditor | ChoiceList) and editor.move_rows(step):
            return
        if 0 <= current + step < len(self._fields):
            self._focus(self._fields[current + step])

    def _focus(self, field: FormField) -> None:
        before = self.screen.focused
        self.screen.set_focus(field.editor, scroll_visible=False)
        if before is not None:
            move_queued_keys(before, field.editor)
        field.scroll_visible(animate=False, force=True)

    def take_choice(self) -> None:
        """If the field with the focus is a list that takes one value only, choose the current row."""
        current = self._current
        editor = self._fields[current].editor if current is not None else None
        if isinstance(editor, ChoiceList):
            editor.take_current()

    # ------------------------------------------------------------------------- values

    @property
    def has_changed(self) -> bool:
        """True if the user has changed an entry."""
        return any(field.has_changed for field in self._fields)

    def _entries(self) -> dict[str, Entry]:
        return {field.field.name: field.entry for field in self._fields}

    def on_form_field_changed(self, event: FormField.Changed) -> None:
        """Update the problem of the changed field, and clear the problem of the form."""
        event.stop()
        event.field.show_problem(self._problem_of(event.field))
        self._show_problem("")

    def _problem_of(self, field: FormField) -> str:
        try:
            read_value(field.field, field.entry, pattern_found)
        except EntryError as error:
            return str(error)
        if field.field.kind != "json":
            return ""
        faults = self._validate(read_values(self._form, self._entries(), pattern_found).content)
        return next((f"{fault.sentence}." for fault in faults if fault.path[:1] == (field.field.name,)), "")

    def value(self) -> dict[str, Any] | None:
        """Return the object that the fields produce. If there are problems, show them and return None."""
        values = read_values(self._form, self._entries(), pattern_found)
        problems = dict(values.problems)
        faults = [] if problems else self._validate(values.content)
        for fault in faults:
            if fault.path:
                problems.setdefault(str(fault.path[0]), f"{fault.sentence}.")
        wrong = [field for field in self._fields if field.field.name in problems]
        for field in wrong:
            field.show_problem(problems[field.field.name])
        if wrong:
            self._focus(wrong[0])
            self._show_problem(f"{len(wrong)} fields need a correction." if len(wrong) > 1 else "")
        elif faults:
            self._show_problem(f"{faults[0].sentence}.")
        return None if values.problems or faults else values.content

    def draft(self) -> dict[str, Any]:
        """Return the values of the fields. The value of an invalid field is the text as typed."""
        entries = self._entries()
        values = read_values(self._form, entries, pattern_found)
        texts = {name: entries[name] for name in values.problems if isinstance(entries[name], str)}
        found = values.content | {name: text for name, text in texts.items() if text}
        return {field.name: found[field.name] for field in self._form.fields if field.name in found}
