"""The two pages of a form: its fields, and the whole value as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.schema_form.fields import Form, NotAForm
from acp_tui.schema_form.schema_reader import read_form
from acp_tui.schema_form.template import starting_object
from acp_tui.schema_form.values import NotEnterable, entries_for, initial_entries
from acp_tui.ui.schema_form.fields_page import FieldsPage
from acp_tui.ui.schema_form.json_page import JsonPage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.screen import Screen

    from acp_tui.schema_form.values import Entry
    from acp_tui.ui.schema_form.fields_page import Validate
    from acp_tui.ui.theme.palette import Palette


class FormPages:
    """Shows either the fields or the JSON, and carries the values over when the user switches."""

    def __init__(
        self,
        dialog: Screen[Any],
        schema: object,
        palette: Palette,
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
            palette: The colours of the current theme.
            validate: Returns what is wrong with a whole object, the most important fault first.
            show_problem: Shows a problem with what was entered; "" hides it.
            switched: Called after a page has been shown, also the first one.
            warn_of_secrets: Whether fields that seem to ask for a secret are marked.
        """
        self._dialog = dialog
        self._schema = schema
        self._palette = palette
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

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        if self._fields is not None:
            self._fields.use_palette(palette)
        if self.json is not None:
            self.json.editor.use_palette(palette)

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
            self._palette,
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
        self.json = JsonPage(content, self._palette, validate=self._validate, show_problem=self._show_problem)
        await self._dialog.query_one("#dialog").mount(self.json, before="#problem")
        self._switched()

    def _drop(self, page: FieldsPage | JsonPage | None) -> None:
        """Hide a page, and remove it after the next refresh, because Textual can draw the page until then."""
        if page is not None:
            page.display = False
            self._dialog.call_after_refresh(page.remove)
