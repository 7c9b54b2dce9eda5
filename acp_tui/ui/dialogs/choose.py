"""The list dialog, for modes, models, option values and more. Typing filters the list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical
from textual.widgets import Static

from acp_tui.session.safe_text import escape_invisible, escape_invisible_line
from acp_tui.session.state import Choice
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.drawing.wrap import wrap
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, best_matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.widgets import Input

    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint


EXPORT_FORMATS = [
    Choice("md", "Markdown", "readable as plain text"),
    Choice("html", "HTML", "one file, in the current theme's colours"),
    Choice("json", "JSON", "for scripts"),
]
"""The formats in which a conversation can be exported."""


CHROME_ROWS = 6
"""The number of rows of the dialog besides the list: borders, title, filter, a blank row, keys."""
WIDTH = 72
MIN_CHOICES_TO_FILTER = 4
"""The minimum number of choices for which the dialog has a filter."""
MAX_ROWS = 20
"""The maximum number of rows of the list that are visible at once."""


class ChooseScreen(Dialog[str | None]):
    """Returns the value of the chosen row, or None if cancelled."""

    SCOPED_CSS = False  # the CSS applies to subclasses, too
    CSS = """
    ChooseScreen { align: center middle; background: transparent; }
    ChooseScreen #dialog {
        width: 72; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $primary;
    }
    ChooseScreen.wide #dialog { width: 92; }
    ChooseScreen Input {
        height: 1; border: none; padding: 0; background: $panel; margin-bottom: 1;
    }
    ChooseScreen #note { height: auto; max-height: 6; margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("choose")

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        palette: Palette,
        *,
        current: str | None = None,
        note: str = "",
    ) -> None:
        """`note` is a sentence to show above the choices."""
        super().__init__()
        self._title = title
        self._choices = list(choices)
        self._shown = self._choices
        self._palette = palette
        self._current = current
        self._note = note

    def compose(self) -> ComposeResult:
        values = [choice.value for choice in self._choices]
        selected = values.index(self._current) if self._current in values else 0
        with Vertical(id="dialog"):
            yield Bar([Segment(self._title, self._palette.strong)], self._count(), id="head")
            if self._note:
                yield Static(escape_invisible(self._note), markup=False, id="note")
            if self._can_filter:
                yield InputLine(placeholder="type to filter", id="filter")
            rows = SelectList(self._rows(), self._palette, selected=selected, id="choices")
            rows.empty_text = "No matches"
            yield rows
            yield KeyHints(self._hints(), self._palette, id="keys")

    @property
    def _can_filter(self) -> bool:
        return len(self._choices) >= MIN_CHOICES_TO_FILTER

    def _hints(self) -> Sequence[Hint]:
        take, close = (keys.bound_keys(self, name) for name in ("choose.take", "choose.close"))
        return [(f"↑↓ {take}", "choose"), (close, "cancel")]

    def on_mount(self) -> None:
        """Focus the filter and set the height of the list."""
        self.set_focus(self.query_one(InputLine) if self._can_filter else None)
        self._fit()

    def on_resize(self) -> None:
        """Set the height of the list."""
        self._fit()

    def _fit(self) -> None:
        height = self.app.size.height
        width = self.query_one("#dialog").outer_size.width or min(WIDTH, self.app.size.width)
        rows = self.query_one(SelectList)
        # While the list is filtered it keeps its height: a dialog that jumps is hard to read.
        before = rows.styles.height.value if rows.styles.height else 0
        wanted = max(rows.height_at(width - 4), before)
        note = min(6, len(wrap([Segment(self._note)], width - 4))) + 1 if self._note else 0
        rows.styles.height = max(1, min(int(wanted), height - CHROME_ROWS - 2 - note, MAX_ROWS))

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        rows = self.query_one(SelectList)
        rows.use_palette(self._palette)
        rows.show(self._rows(), rows.selected)
        self.query_one("#head", Bar).show([Segment(self._title, self._palette.strong)], self._count())
        self.query_one("#keys", KeyHints).use_palette(palette)

    def _rows(self) -> list[SelectRow]:
        rows = [self._row(choice) for choice in self._shown]
        if not self._has_headings:
            return rows
        groups = [choice.group for choice in self._shown]
        return [
            replace(row, above=[[Segment(group, self._palette.dim)]]) if group and group != before else row
            for row, group, before in zip(rows, groups, [None, *groups], strict=False)
        ]

    @property
    def _has_headings(self) -> bool:
        """Whether headings are shown: only while the list is unfiltered, and if every choice has a group."""
        return self._shown is self._choices and all(choice.group for choice in self._choices)

    def _row(self, choice: Choice) -> SelectRow:
        palette = self._palette
        mark = "● " if choice.value == self._current else "  "
        text = [Segment(escape_invisible_line(choice.name or choice.value), palette.text)]
        if choice.group and not self._has_headings:
            text.append(Segment(f"  {escape_invisible_line(choice.group)}", palette.faint))
        description = " ".join(escape_invisible_line(choice.description or "").split())
        note = [Segment(description, palette.dim)] if description else None
        return SelectRow([Segment(mark, palette.success)], text, note)

    def _count(self) -> list[Segment]:
        if not self._can_filter:
            return []
        shown, every = len(self._shown), len(self._choices)
        return [Segment(f" {shown} of {every}" if shown < every else f" {every}", self._palette.dim)]

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the choices that match the filter, best match first."""
        query = event.value.strip()
        self._shown = self._matches(query) if query else self._choices
        values = [choice.value for choice in self._shown]
        selected = values.index(self._current) if self._current in values and not query else 0
        self.query_one(SelectList).show(self._rows(), selected)
        self.query_one("#head", Bar).show(right=self._count())
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

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Choose the clicked row."""
        self.choose(self._shown[event.index].value)

    def action_move(self, step: int) -> None:
        """Move the selection. At the ends, a single step wraps around and a longer one stops."""
        self.query_one(SelectList).move(step)

    def action_choose(self) -> None:
        """Choose the selected row."""
        if self._shown:
            self.choose(self._shown[self.query_one(SelectList).selected].value)

    def action_close(self) -> None:
        """Close the dialog without a choice."""
        self.choose(None)
