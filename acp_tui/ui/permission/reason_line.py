"""The line in which the user tells the agent why a request is rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widgets import Static

from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult


class ReasonLine(Horizontal):
    """A labelled input for the reason for a rejection. The screen handles Enter."""

    DEFAULT_CSS = """
    ReasonLine { height: 1; }
    ReasonLine Static { width: auto; text-style: bold; }
    ReasonLine InputLine { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(id="reason")
        self.input = InputLine(placeholder="…")
        """The input, which takes the focus."""

    def compose(self) -> ComposeResult:
        yield Static("Tell the agent why: ", markup=False)
        yield self.input

    @property
    def value(self) -> str:
        """The reason as written so far."""
        return self.input.value.strip()
