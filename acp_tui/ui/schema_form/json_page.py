"""The page on which the whole object is edited as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from textual.containers import Vertical
from textual.widgets.text_area import Selection

from acp_tui.schema_form.values import EntryError, read_json
from acp_tui.ui.schema_form.text_editor import JsonEditor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import ComposeResult
    from textual.widgets import TextArea

    from acp_tui.ui.schema_form.fields_page import Validate
    from acp_tui.ui.theme.palette import Palette


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
        palette: Palette,
        *,
        validate: Validate,
        show_problem: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._first_text = json.dumps(content, indent=2, ensure_ascii=False)
        self._validate = validate
        self._show_problem = show_problem
        self.editor = JsonEditor(self._first_text, palette)
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
