"""The lines in which a comment is written."""

from __future__ import annotations

from typing import ClassVar

from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from acp_tui.ui import keys
from acp_tui.ui.schema_form.text_editor import TextEditor


class CommentLine(Horizontal):
    """A labelled input for a comment, which grows with the text. Hidden until `open` is called."""

    BINDINGS: ClassVar = keys.bindings("comment")
    DEFAULT_CSS = """
    CommentLine { height: auto; background: $surface; display: none; padding: 0 1; }
    CommentLine.shown { display: block; }
    CommentLine Static { width: auto; color: $text-muted; }
    CommentLine TextEditor { width: 1fr; height: auto; max-height: 8; background: $surface; }
    """

    class Closed(Message):
        """The user finished the comment; `text` is None if they cancelled."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def open(self, label: str, text: str) -> None:
        """Show and focus the input, which contains this text at first."""
        self.remove_children()
        line = TextEditor(text, multiline=True)
        self.mount(Static(f"{label}: ", markup=False), line)
        self.add_class("shown")
        self.screen.set_focus(line)

    def take_focus(self) -> None:
        """Pass the focus on to the input."""
        self.screen.set_focus(self.query_one(TextEditor))

    @property
    def shown(self) -> bool:
        """True while the line is visible."""
        return self.has_class("shown")

    def action_save(self) -> None:
        """Close the line and save the comment."""
        self._close(self.query_one(TextEditor).text.strip())

    def action_newline(self) -> None:
        """Insert a line break."""
        self.query_one(TextEditor).newline()

    def action_row(self, step: int) -> None:
        """Move the cursor a row up (-1) or down (1)."""
        self.query_one(TextEditor).move_rows(step)

    def action_cancel(self) -> None:
        """Close the line without a change to the comment."""
        self._close(None)

    def _close(self, text: str | None) -> None:
        self.remove_class("shown")
        self.post_message(self.Closed(text))
