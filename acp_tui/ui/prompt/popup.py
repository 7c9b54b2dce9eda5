"""A list that opens above the prompt, over the transcript, and never over the line that is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.widget import Widget

from acp_tui.ui.prompt.completion_list import MAX_ROWS, CompletionItem, CompletionList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

BORDER = 1


class Popup(Vertical):
    """Shows choices; what they are and what becomes of them is the business of who opens it."""

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
    """Lines besides the choices."""
    TITLE = ""
    """What is chosen from."""

    def compose(self) -> ComposeResult:
        """The list."""
        yield CompletionList()

    @property
    def choices(self) -> CompletionList:
        """The list."""
        return self.query_one(CompletionList)

    @property
    def is_open(self) -> bool:
        """Is it shown?"""
        return self.display

    def show(self, choices: Sequence[CompletionItem], current: int = 0) -> None:
        """Open it, or show other choices."""
        above = self.parent.region.y if isinstance(self.parent, Widget) else MAX_ROWS
        self.choices.show(choices, current, max(1, above - BORDER - self.EXTRA_ROWS))
        count = f" · {len(choices):,}" if len(choices) > self.choices.rows else ""
        self.border_title = f" {self.TITLE}{count if choices else ': nothing found'} "
        height = self.choices.height + self.EXTRA_ROWS + BORDER
        if self.styles.offset.y.value != -(height + BORDER):
            self.styles.offset = (0, -(height + BORDER))  # the prompt has a border of its own
        if not self.display:
            self.display = True
            self.screen.refresh_bindings()

    def close(self) -> None:
        """Hide it."""
        if self.display:
            self.display = False
            self.screen.refresh_bindings()
