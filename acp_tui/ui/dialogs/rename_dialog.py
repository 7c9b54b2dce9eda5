"""The dialog for the name of a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.widgets.bar import Hint


TITLE = "Name of this tab and its session"


class RenameDialog(BoxDialog[str]):
    """A dialog to edit the name of a tab. Returns the new name; "" restores the original title."""

    CSS = """
    RenameDialog #dialog { border: round $border; }
    RenameDialog InputLine { padding: 0 1; margin: 1 0; }
    """
    WIDTH = 60
    BINDINGS: ClassVar = keys.bindings("rename")
    AUTO_FOCUS = "InputLine"

    def __init__(self, name: str, title: str, *, heading: str = TITLE, save: str = "save") -> None:
        """Create the dialog.

        Args:
            name: The current name.
            title: The original title, which an empty name restores. It is shown as the placeholder.
            heading: The title of the dialog.
            save: What the key that closes the dialog with the name does.
        """
        super().__init__(heading)
        self._save = save
        self._current = name
        self._original = title

    def content(self) -> ComposeResult:
        line = InputLine(placeholder=self._original)
        line.value = self._current
        yield line

    def hints(self) -> list[Hint]:
        take, close = (keys.bound_keys(self, name) for name in ("rename.save", "rename.close"))
        return [(take, self._save), (close, "cancel")]

    def action_save(self) -> None:
        """Close the dialog with the name as its result."""
        self.dismiss(self.query_one(InputLine).value.strip())
