"""The dialog for a yes-or-no question."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.widgets import Static

from acp_tui.session.safe_text import escape_invisible, escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.select_list import SelectList, SelectRow

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.widgets.bar import Hint


class ConfirmScreen(BoxDialog[bool]):
    """Returns True if the user chooses "yes". "No" is preselected, so that type-ahead confirms nothing."""

    CSS = """
    ConfirmScreen #question { height: auto; max-height: 12; margin-bottom: 1; }
    """
    DEFAULT_CLASSES = "warning"
    WIDTH = 72
    BINDINGS: ClassVar = keys.bindings("choose")

    def __init__(self, question: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._question = question
        self._answers = (no, yes)

    def content(self) -> ComposeResult:
        yield Static(escape_invisible(self._question), markup=False, id="question")
        yield SelectList(self._rows(), id="choices")

    def hints(self) -> list[Hint]:
        take, close = (keys.bound_keys(self, name) for name in ("choose.take", "choose.close"))
        return [(f"↑↓ {take}", "choose"), (close, "no")]

    def _rows(self) -> list[SelectRow]:
        return [
            SelectRow([], [Segment(escape_invisible_line(words), current_palette().text)])
            for words in self._answers
        ]

    def apply_theme(self) -> None:
        super().apply_theme()
        rows = self.query_one(SelectList)
        rows.show(self._rows(), rows.selected)

    def action_choose(self) -> None:
        """Close the dialog with the selected answer."""
        self.dismiss(self.query_one(SelectList).selected == 1)

    def action_close(self) -> None:
        """Close the dialog with the answer "no"."""
        self.dismiss(False)
