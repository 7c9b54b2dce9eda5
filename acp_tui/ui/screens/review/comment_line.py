"""The line in which a comment is written."""

from __future__ import annotations

from typing import ClassVar

from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from acp_tui.ui import keys
from acp_tui.ui.widgets.input_line import InputLine


class CommentLine(Horizontal):
    """A labelled input for a comment. Hidden until `open` is called."""

    BINDINGS: ClassVar = keys.bindings("comment")
    DEFAULT_CSS = """
    CommentLine { height: 1; background: $surface; display: none; padding: 0 1; }
    CommentLine.shown { display: block; }
    CommentLine Static { width: auto; color: $text-muted; }
    CommentLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    """

    class Closed(Message):
        """The user finished the comment; `text` is None if they cancelled."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def open(self, label: str, text: str) -> None:
        """Show and focus the input, which contains this text at first."""
        self.remove_children()
        line = InputLine(select_on_focus=False)
        line.value = text
        self.mount(Static(f"{label}: ", markup=False), line)
        self.add_class("shown")
        self.screen.set_focus(line)

    def take_focus(self) -> None:
        """Pass the focus on to the input."""
        self.screen.set_focus(self.query_one(InputLine))

    @property
    def shown(self) -> bool:
        """True while the line is visible."""
        return self.has_class("shown")

    def action_save(self) -> None:
        """Close the line and save the comment."""
        self._close(self.query_one(InputLine).value.strip())

    def action_cancel(self) -> None:
        """Close the line without a change to the comment."""
        self._close(None)

    def _close(self, text: str | None) -> None:
        self.remove_class("shown")
        self.post_message(self.Closed(text))
