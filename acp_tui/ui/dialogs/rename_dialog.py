"""The dialog for the name of a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical

from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.theme.palette import Palette


TITLE = "Name of this tab and its session"


class RenameDialog(Dialog[str]):
    """A dialog to edit the name of a tab. Returns the new name; "" restores the original title."""

    CSS = """
    RenameDialog { align: center middle; background: transparent; }
    RenameDialog #dialog {
        width: 60; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $border;
    }
    RenameDialog InputLine { height: 1; border: none; padding: 0 1; margin: 1 0; background: $panel; }
    """
    BINDINGS: ClassVar = keys.bindings("rename")
    AUTO_FOCUS = "InputLine"

    def __init__(self, name: str, title: str, palette: Palette, *, heading: str = TITLE) -> None:
        """`title` is the original title, which an empty name restores. It is shown as the placeholder."""
        super().__init__()
        self._heading = heading
        self._current = name
        self._original = title
        self._palette = palette

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar([Segment(self._heading, self._palette.strong)], id="head")
            line = InputLine(placeholder=self._original)
            line.value = self._current
            yield line
            take, close = (keys.bound_keys(self, name) for name in ("rename.save", "rename.close"))
            yield KeyHints([(take, "save"), (close, "cancel")], self._palette)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one("#head", Bar).show([Segment(self._heading, palette.strong)])
        self.query_one(KeyHints).use_palette(palette)

    def action_save(self) -> None:
        """Close the dialog with the name as its result."""
        self.dismiss(self.query_one(InputLine).value.strip())
