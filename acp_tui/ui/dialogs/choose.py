"""The list dialog, for modes, models, option values and more. Typing filters the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.widgets import Input, Static

from acp_tui.session.safe_text import escape_invisible, escape_invisible_line
from acp_tui.session.state import Choice
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog
from acp_tui.ui.drawing.wrap import wrap
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, best_matches

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.widgets.bar import Hint


EXPORT_FORMATS = [
    Choice("md", "Markdown", "readable as plain text"),
    Choice("html", "HTML", "one file, in the current theme's colours"),
    Choice("json", "JSON", "for scripts"),
]
"""The formats in which a conversation can be exported."""

MIN_CHOICES_TO_FILTER = 4
"""The minimum number of choices for which the dialog has a filter."""
FILTER_ROWS = 2
"""The rows of the filter and of a margin."""


class ChooseScreen(BoxDialog[str | None]):
    """Returns the value of the chosen row, or None if cancelled."""

    SCOPED_CSS = False  # the CSS applies to subclasses, too
    CSS = """
    ChooseScreen InputLine { margin-bottom: 1; }
    ChooseScreen #note { height: auto; max-height: 6; margin-bottom: 1; }
    """
    WIDTH = 72
    BINDINGS: ClassVar = keys.bindings("choose")

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        current: str | None = None,
        note: str = "",
    ) -> None:
        """`note` is a sentence to show above the choices."""
        super().__init__(title)
        self._choices = list(choices)
        self._shown = self._choices
        self._current = current
        self._note = note

    def content(self) -> ComposeResult:
        values = [choice.value for choice in self._choices]
        selected = values.index(self._current) if self._current in values else 0
        if self._note:
            yield Static(escape_invisible(self._note), markup=False, id="note")
        if self._can_filter:
            yield InputLine(placeholder="type to filter", id="filter")
        rows = SelectList(self._rows(), selected=selected, id="choices")
        rows.empty_text = "No matches"
        yield rows

    @property
    def _can_filter(self) -> bool:
        return len(self._choices) >= MIN_CHOICES_TO_FILTER

    def head(self) -> tuple[Spans, Spans]:
        return super().head()[0], self._count()

    def hints(self) -> Sequence[Hint]:
        take, close = (keys.bound_keys(self, name) for name in ("choose.take", "choose.close"))
        return [(f"↑↓ {take}", "choose"), (close, "cancel")]

    def on_mount(self) -> None:
        """Focus the filter."""
        self.set_focus(self.query_one(InputLine) if self._can_filter else None)

    def fit(self) -> None:
        note = min(6, len(wrap([Segment(self._note)], self.inner_width))) + 1 if self._note else 0
        self.fit_list(self.query_one(SelectList), other_rows=FILTER_ROWS + note)

    def apply_theme(self) -> None:
        super().apply_theme()
        rows = self.query_one(SelectList)
        rows.show(self._rows(), rows.selected)

    def _rows(self) -> list[SelectRow]:
        rows = [self._row(choice) for choice in self._shown]
        if not self._has_headings:
            return rows
        groups = [choice.group for choice in self._shown]
        return [
            replace(row, above=[[Segment(group, current_palette().dim)]])
            if group and group != before
            else row
            for row, group, before in zip(rows, groups, [None, *groups], strict=False)
        ]

    @property
    def _has_headings(self) -> bool:
        """Whether headings are shown: only while the list is unfiltered, and if every choice has a group."""
        return self._shown is self._choices and all(choice.group for choice in self._choices)

    def _row(self, choice: Choice) -> SelectRow:
        palette = current_palette()
        mark = "● " if choice.value == self._current else "  "
        text = [Segment(escape_invisible_line(choice.name or choice.value), palette.text)]
        if choice.group and not self._has_headings:
            text.append(Segment(f"  {escape_invisible_line(choice.group)}", palette.faint))
        description = " ".join(escape_invisible_line(choice.description or "").split())
        note = [Segment(description, palette.dim)] if description else None
        return SelectRow([Segment(mark, palette.success)], text, note)

    def _count(self) -> Spans:
        if not self._can_filter:
            return []
        shown, every = len(self._shown), len(self._choices)
        return [Segment(f" {shown} of {every}" if shown < every else f" {every}", current_palette().dim)]

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the choices that match the filter, best match first."""
        query = event.value.strip()
        self._shown = self._matches(query) if query else self._choices
        values = [choice.value for choice in self._shown]
        selected = values.index(self._current) if self._current in values and not query else 0
        self.query_one(SelectList).show(self._rows(), selected)
        self.show_head()
        self.on_filtered()

    def on_filtered(self) -> None:
        """Called after the filter has changed the rows."""

    def choose(self, value: str | None) -> None:
        """Close the dialog with `value` as the result; None means that the user cancelled."""
        self.dismiss(value)

    def _matches(self, query: str) -> list[Choice]:
        return best_matches(
            query, self._choices, lambda one: [one.name or one.value, one.value, one.group or ""]
        )

    def action_choose(self) -> None:
        """Choose the selected row."""
        if self._shown:
            self.choose(self._shown[self.query_one(SelectList).selected].value)

    def action_close(self) -> None:
        """Close the dialog without a choice."""
        self.choose(None)
