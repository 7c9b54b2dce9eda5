"""The dialog for a yes-or-no question."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical
from textual.widgets import Static

from acp_tui.session.safe_text import escape_invisible, escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.widgets.bar import KeyHints
from acp_tui.ui.widgets.select_list import SelectList, SelectRow

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.theme.palette import Palette


class ConfirmScreen(Dialog[bool]):
    """Returns True if the user chooses "yes". "No" is preselected, so that type-ahead confirms nothing."""

    CSS = """
    ConfirmScreen { align: center middle; background: transparent; }
    ConfirmScreen #dialog {
        width: 72; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $warning;
    }
    ConfirmScreen #question { height: auto; max-height: 12; margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("choose")
    AUTO_FOCUS = ""

    def __init__(self, question: str, palette: Palette, *, yes: str, no: str) -> None:
        super().__init__()
        self._question = question
        self._palette = palette
        self._answers = (no, yes)

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(escape_invisible(self._question), markup=False, id="question")
            yield SelectList(self._rows(), self._palette, id="choices")
            take, close = (keys.bound_keys(self, name) for name in ("choose.take", "choose.close"))
            yield KeyHints([(f"↑↓ {take}", "choose"), (close, "no")], self._palette, id="keys")

    def _rows(self) -> list[SelectRow]:
        return [
            SelectRow([], [Segment(escape_invisible_line(words), self._palette.text)])
            for words in self._answers
        ]

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        rows = self.query_one(SelectList)
        rows.use_palette(palette)
        rows.show(self._rows(), rows.selected)
        self.query_one("#keys", KeyHints).use_palette(palette)

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Close the dialog with the clicked answer."""
        self.dismiss(event.index == 1)

    def action_move(self, step: int) -> None:
        """Move to the other answer."""
        self.query_one(SelectList).move(step)

    def action_choose(self) -> None:
        """Close the dialog with the selected answer."""
        self.dismiss(self.query_one(SelectList).selected == 1)

    def action_close(self) -> None:
        """Close the dialog with the answer "no"."""
        self.dismiss(False)
