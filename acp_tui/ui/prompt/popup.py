"""A list that opens above the prompt and covers the transcript, but never the text being typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.widget import Widget

from acp_tui.ui.prompt.completion_list import MAX_ROWS, CompletionItem, CompletionList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

BORDER_ROWS = 1


class Popup(Vertical):
    """Base class of popups that show a list of items above the prompt."""

    DEFAULT_CSS = """
    Popup {
        overlay: screen;
        display: none;
        height: auto;
        width: 100%;
        background: $surface;
        border-top: solid $primary;
        border-title-color: $text-accent;
    }
    """
    EXTRA_ROWS = 0
    """Number of lines of the popup besides those of the list and the borders."""
    TITLE = ""
    """What the items are, such as "files", for the title in the border."""

    def compose(self) -> ComposeResult:
        yield CompletionList()

    @property
    def choices(self) -> CompletionList:
        """The list of the popup."""
        return self.query_one(CompletionList)

    @property
    def is_open(self) -> bool:
        """True while the popup is visible."""
        return self.display

    def show(self, choices: Sequence[CompletionItem], current: int = 0) -> None:
        """Open the popup, or replace its items."""
        above = self.parent.region.y if isinstance(self.parent, Widget) else MAX_ROWS
        self.choices.show(choices, current, max(1, above - BORDER_ROWS - self.EXTRA_ROWS))
        count = f" · {len(choices):,}" if len(choices) > self.choices.rows else ""
        self.border_title = f" {self.TITLE}{count if choices else ': nothing found'} "
        height = self.choices.height + self.EXTRA_ROWS + BORDER_ROWS
        if self.styles.offset.y.value != -(height + BORDER_ROWS):
            self.styles.offset = (0, -(height + BORDER_ROWS))  # also above the border of the prompt
        if not self.display:
            self.display = True
            self.screen.refresh_bindings()

    def close(self) -> None:
        if self.display:
            self.display = False
            self.screen.refresh_bindings()
