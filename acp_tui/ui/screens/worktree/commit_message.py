"""The dialog in which the user writes a commit message."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical
from textual.widgets import Static

from acp_tui.ui import keys
from acp_tui.ui.schema_form.text_editor import TextEditor
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.widgets.bar import Bar, KeyHints

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.theme.palette import Palette


class CommitMessageDialog(Dialog[str]):
    """Asks for a commit message. The result is never an empty string; it is None if the user cancelled."""

    CSS = """
    CommitMessageDialog { align: center middle; background: transparent; }
    CommitMessageDialog #dialog {
        width: 76; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $primary;
    }
    CommitMessageDialog #summary { height: auto; max-height: 8; color: $text-muted; }
    CommitMessageDialog TextEditor {
        height: auto; min-height: 3; max-height: 12; margin: 1 0; background: $panel;
    }
    """
    BINDINGS: ClassVar = keys.bindings("commit")
    AUTO_FOCUS = "TextEditor"

    def __init__(self, title: str, summary: str, message: str, palette: Palette) -> None:
        """`summary` says what will be committed; `message` is what the input contains at first."""
        super().__init__()
        self._title = title
        self._summary = summary
        self._message = message
        self._palette = palette

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar([Segment(self._title, self._palette.strong)], id="head")
            yield Static(self._summary, markup=False, id="summary")
            yield TextEditor(self._message, multiline=True)
            names = ("commit.save", "commit.newline", "commit.close")
            save, newline, close = (keys.bound_keys(self, name).split()[0] for name in names)
            yield KeyHints([(save, "commit"), (newline, "new line"), (close, "back")], self._palette)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one("#head", Bar).show([Segment(self._title, palette.strong)])
        self.query_one(KeyHints).use_palette(palette)

    def action_newline(self) -> None:
        """Insert a line break."""
        self.query_one(TextEditor).newline()

    def action_save(self) -> None:
        """Close the dialog with the message as its result. If the message is empty, only ring the bell."""
        if message := self.query_one(TextEditor).text.strip():
            self.dismiss(message)
        else:
            self.app.bell()
