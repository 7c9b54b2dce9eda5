"""The two pages of a form: its fields, and the whole value as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static, TextArea
from textual.widgets.text_area import Selection

from acp_tui.cpu_limit import pattern_found
from acp_tui.schema_form.fields import Field, Form, NotAForm, asks_for_secret, expectation
from acp_tui.schema_form.schema_reader import read_form
from acp_tui.schema_form.values import (
    Entry,
    EntryError,
    NotEnterable,
    SchemaFault,
    entries_for,
    initial_entries,
    read_json,
    read_value,
    read_values,
    starting_object,
)
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.schema_form.editors import (
    ChoiceList,
    ChoicePicker,
    EntryChanged,
    JsonEditor,
    SecretLine,
    TextEditor,
    choice_editor,
)
from acp_tui.ui.terminal.textual_keys import move_queued_keys
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.screen import Screen


if TYPE_CHECKING:
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
    FormField InputLine { padding: 0 0 0 1; }
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

    def __init__(self, field: Field, entry: Entry, *, warn_of_secrets: bool) -> None:
        super().__init__()
        self.field = field
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
            return choice_editor(field, entry)
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
        field, palette = self.field, current_palette()
        text = Text()
        text.append(
            shorten(escape_invisible_line(field.label[: 2 * MAX_LABEL_WIDTH]), MAX_LABEL_WIDTH),
            palette.strong,
        )
        if field.required:
            text.append(" *", palette.warning)
        if expected := expectation(field):
            text.append(f"  {expected}", palette.dim)
        if field.description.strip():
            shown = escape_invisible(field.description[:MAX_DESCRIPTION].strip())
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
        return Text(f"✘ {shorten(escape_invisible_line(self._problem), width)}", current_palette().error)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.query_one(".about", Static).update(self._about())
        self._update_problem()

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


if TYPE_CHECKING:
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
            FormField(field, entries[field.name], warn_of_secrets=warn_of_secrets) for field in form.fields
        ]

    def compose(self) -> ComposeResult:
        yield from self._fields

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


class JsonPage(Vertical):
    """A text area with an object as JSON. After each change, calls `show_problem` with the problem or ""."""

    DEFAULT_CSS = """
    JsonPage { height: auto; }
    JsonPage .editor {
        height: 1fr; padding: 0 0 0 1; background: $panel; border-left: outer $primary !important;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        *,
        validate: Validate,
        show_problem: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._first_text = json.dumps(content, indent=2, ensure_ascii=False)
        self._validate = validate
        self._show_problem = show_problem
        self.editor = JsonEditor(self._first_text, multiline=True)
        self.editor.add_class("editor")

    def compose(self) -> ComposeResult:
        yield self.editor

    def take_focus(self) -> None:
        """Focus the text area. If the text is unchanged, select the first null that is the value of a key.

        Such a null is usually a placeholder for a required value that the user has to enter.
        """
        self.screen.set_focus(self.editor)
        lines = self._first_text.split("\n")
        row = next((row for row, line in enumerate(lines) if line.rstrip(",").endswith(": null")), None)
        if row is not None and not self.has_changed:
            end = len(lines[row].rstrip(","))
            self.editor.selection = Selection((row, end - len("null")), (row, end))

    @property
    def has_changed(self) -> bool:
        """True if the text differs from the initial text."""
        return self.editor.text != self._first_text

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Validate the text, and show the problem if there is one."""
        event.stop()
        self.value()

    def value(self) -> dict[str, Any] | None:
        """Return the object. If it is invalid, show the problem and return None."""
        found = self.read_object()
        faults = self._validate(found) if found is not None else ()
        if found is not None:
            self._show_problem(f"{faults[0].sentence}." if faults else "")
        return None if faults else found

    def read_object(self) -> dict[str, Any] | None:
        """Return the object, not validated. If the text is not a JSON object, show why and return None."""
        try:
            value = read_json(self.editor.text)
        except EntryError as error:
            self._show_problem(str(error))
            return None
        if not isinstance(value, dict):
            self._show_problem("Must be a JSON object, such as {…}.")
            return None
        return cast("dict[str, Any]", value)


class FormPages:
    """Shows either the fields or the JSON, and carries the values over when the user switches."""

    def __init__(
        self,
        dialog: Screen[Any],
        schema: object,
        *,
        validate: Validate,
        show_problem: Callable[[str], None],
        switched: Callable[[], None],
        warn_of_secrets: bool,
    ) -> None:
        """Read the schema; nothing is shown yet.

        Args:
            dialog: The dialog, with widgets that have the ids `dialog`, `scroll` and `problem`.
            schema: The JSON schema of the object to make.
            validate: Returns what is wrong with a whole object, the most important fault first.
            show_problem: Shows a problem with what was entered; "" hides it.
            switched: Called after a page has been shown, also the first one.
            warn_of_secrets: Whether fields that seem to ask for a secret are marked.
        """
        self._dialog = dialog
        self._schema = schema
        self._validate = validate
        self._show_problem = show_problem
        self._switched = switched
        self._warn_of_secrets = warn_of_secrets
        self._fields: FieldsPage | None = None
        self.json: JsonPage | None = None
        """The page with JSON while it is shown."""
        self.form: Form | None = None
        """The schema as fields; None if it can only be edited as JSON."""
        self.why_json = ""
        """A sentence that says why the value can only be edited as JSON; empty if there are fields."""
        self._has_taken_json = False  # the fields contain what the user wrote as JSON
        try:
            self.form = read_form(schema)
        except NotAForm as reason:
            self.why_json = f"Edited as JSON because {reason}."

    @property
    def current(self) -> FieldsPage | JsonPage:
        """The page that the user edits."""
        page = self.json or self._fields
        assert page is not None
        return page

    @property
    def have_changed(self) -> bool:
        """True if the user has changed an entry or the JSON."""
        pages = (page for page in (self._fields, self.json) if page is not None)
        return self._has_taken_json or any(page.has_changed for page in pages)

    async def open(self, values: Mapping[str, Any]) -> None:
        """Show the fields with these initial values, or the JSON if the schema cannot be shown as fields."""
        if self.form is None:
            await self._show_json(starting_object(self._schema, values))
        else:
            await self._show_fields(self.form, initial_entries(self.form, values))

    async def switch(self) -> None:
        """Show the other page, if it can show the value."""
        if self.json is None:
            if self._fields is not None:
                await self._show_json(self._fields.draft())
        elif self.form is None:
            self._dialog.app.bell()
        elif not self.json.has_changed and self._fields is not None:
            self._close_json()  # keeps all entries, even invalid ones
        elif (content := self.json.read_object()) is not None:
            try:
                entries = entries_for(self.form, content)
            except NotEnterable as error:
                self._show_problem(str(error))
            else:
                self._has_taken_json = True
                await self._show_fields(self.form, entries)

    async def _show_fields(self, form: Form, entries: Mapping[str, Entry]) -> None:
        """Show fields with these entries."""
        self._drop(self._fields)
        self._fields = FieldsPage(
            form,
            entries,
            validate=self._validate,
            show_problem=self._show_problem,
            warn_of_secrets=self._warn_of_secrets,
        )
        await self._dialog.query_one("#scroll").mount(self._fields)
        self._close_json()

    def _close_json(self) -> None:
        """Remove the JSON page, if it is shown, and show the fields."""
        self._drop(self.json)
        self.json = None
        if self._fields is not None:
            self._fields.display = True
        self._switched()

    async def _show_json(self, content: Mapping[str, Any]) -> None:
        if self._fields is not None:
            self._fields.display = False
        self.json = JsonPage(content, validate=self._validate, show_problem=self._show_problem)
        await self._dialog.query_one("#dialog").mount(self.json, before="#problem")
        self._switched()

    def _drop(self, page: FieldsPage | JsonPage | None) -> None:
        """Hide a page, and remove it after the next refresh, because Textual can draw the page until then."""
        if page is not None:
            page.display = False
            self._dialog.call_after_refresh(page.remove)
